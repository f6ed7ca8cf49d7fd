"""Where Citewell meets other systems; each module implements one port."""
