"""Files that mean harm, or are damaged: every reader gets very many of them, in a process of its own."""
