"""Programs as users give them: declarations, handles on what was added, and what comes and goes
from one program to the next. Nothing here knows a row.
"""
