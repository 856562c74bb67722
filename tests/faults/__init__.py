"""The gateway is killed wherever it may hurt, started anew, and what people saw is counted.

Telegram, Discord and Slack are on at once where it matters: `city` is a town with all three,
`town` one with Telegram alone. `make test` runs the short form, a minute or two: every named point
once, and a few of what `make faults` does for a quarter of an hour: 300 random kills over 1,500
messages while calls fail and connections break, 500 messages while every platform cuts its
connections every five seconds, and 500 of which each comes twice and more. It prints tables and
keeps them in `results/`. `FAULTS_SEED=N` repeats the random choices of a run; the moments at which
a kill meets the program stay as random as the machine.
"""
