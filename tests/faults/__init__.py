"""Kill the gateway at any moment, start it again, and count what people saw.

The fixture `full_deployment` has Telegram, Discord, Slack, Signal and WhatsApp; `deployment` has
Telegram only. `make test` runs the short form: a kill at every named point, and a few random ones.
`make faults` takes an hour. Among others, it runs 300 random kills over 1,500 messages while calls
fail and connections break, 1,000 messages while every platform cuts its connections every five
seconds, and 1,000 messages that each arrive at least twice. It prints tables and keeps them in
`results/`. `FAULTS_SEED=N` repeats the random choices of a run, but not the exact moments of kills.
"""
