"""Two ways to one answer: literals shuffled, orders forced, batches split, code compiled or not."""
