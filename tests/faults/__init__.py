"""The gateway is killed wherever it may hurt, started anew, and what people saw is counted.

`make test` runs the short form, about a minute: every named point once, and a few random kills.
`make faults` runs the long one: 200 random kills over 1,000 messages, some six minutes. It prints
its table and keeps it in `results/`. `FAULTS_SEED=N` repeats the random choices of a run; the
moments at which a kill meets the program stay as random as the machine.
"""
