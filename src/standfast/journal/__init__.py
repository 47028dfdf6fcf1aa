"""The truth: every fact is one committed transaction in an SQLite file, shared by all.

`place` finds it, `database` opens it, `turnstile` lets writers in one at a time, `store`
appends, `folds` keeps the current state, `reading` answers, `mirror` keeps a readable copy,
`strays` brings in what could not be written at the time, `retention` lets old events go,
`verify` checks all of it, `repair` rebuilds what is damaged.
"""
