"""This machine as a cloud: a real Postgres and an AWS emulator that the real CDK app is deployed to."""
