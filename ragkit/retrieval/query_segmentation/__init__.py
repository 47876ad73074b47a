"""Query segmentation: from a long text to its topics, and the segments that ask for them."""
