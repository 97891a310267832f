"""Where rows lie and rules are evaluated: cuts of relations, the stages of a program, the steps of a commit."""
