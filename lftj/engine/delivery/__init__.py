"""Word of commits to those who wait for them: one writer after another, subscribers, consumers."""
