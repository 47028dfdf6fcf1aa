"""The truth: every fact is one committed transaction in an SQLite file, shared by all.

`place` finds it, `database` opens it, `writer_queue` lets writers in one at a time, `store`
appends, `tables` keep the current state, `questions` answers, `mirror` keeps a readable copy,
`fallback` brings in what could not be written at the time, `retention` lets old events go,
`verification` checks all of it, `repair` rebuilds what is damaged.
"""
