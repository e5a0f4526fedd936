"""Vectors that predict which words stand near which: skip-gram, CBOW, with negative sampling and parts of words.

`model` has the two estimators; `words` adds texts to a vocabulary and turns the answer into vectors. A fit walks
through `descent`, the scheme: it takes the corpus block by block, `drawing` draws what is looked at in a block (which
tokens, how far), `inputs` says which rows predict (those of words, or means of rows: of n-grams, of a window),
`noise` has the tables that negatives are drawn by, and the kernel of ``kernels/skipgram`` steps.

**Why one thread and many agree to the bit.** Words are dealt to eight parts, for their inputs and for their outputs.
A block is done in rounds; in each, every part of the inputs meets another part of the outputs, so no two threads ever
touch the same row, and within a meeting the steps are those of one thread, one after the other. Random numbers are a
function of the place in the corpus. Nothing is locked, copied or averaged, and there is no stale gradient: it is
plain stochastic descent, in an order that is a little shuffled within a block.
"""
