"""The deployed stack, from the outside: real uploads, real HTTP."""
