"""The parts that pages are made of, by page; ``common`` holds what several pages share."""
