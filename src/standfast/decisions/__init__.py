"""The face of decisions, `status_md`; their records are `journal/tables/decision_records.py`."""
