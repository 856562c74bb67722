"""Kill the gateway at any moment, start it again, and count what people saw.

The fixture `full_deployment` has Telegram, Discord and Slack; `deployment` has Telegram only.
`make test` runs the short form, which takes a minute or two: a kill at every named point, and a few
random ones. `make faults` runs for a quarter of an hour: 300 random kills over 1,500 messages while
calls fail and connections break, 500 messages while every platform cuts its connections every five
seconds, and 500 messages that each arrive at least twice. It prints tables and keeps them in
`results/`. `FAULTS_SEED=N` repeats the random choices of a run, but not the exact moments of kills.
"""
