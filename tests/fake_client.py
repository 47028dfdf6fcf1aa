"""A client that speaks as Claude Code does, and does what the next line of a file says.

What it was called with and told is in a ledger: whether it began a session or went on with one,
and each prompt in a file of its own.
"""

from pathlib import Path

from standfast.protocols.resumption.rules.quality_gates import WEIGHTS
from standfast.runners.registry import CLAUDE, Runner

_SCRIPT = r"""
how=silent; said=
while [ $# -gt 0 ]; do
  case "$1" in
    --session-id) how=new; said=$2; shift ;;
    --resume) how=resumed; said=$2; shift ;;
  esac
  shift
done
echo "$how $said" >> "$LEDGER"
n=$(wc -l < "$LEDGER")
cat > "$LEDGER.prompt-$n"
env > "$LEDGER.env-$n"
init() {
  printf '{"type":"system","subtype":"init","session_id":"%s"}\n' "$said"
}
result() { # is_error, words, cost
  printf '{"type":"result","is_error":%s,"result":"%s","session_id":"%s",' "$1" "$2" "$said"
  printf '"total_cost_usd":%s,"usage":{"input_tokens":100,"output_tokens":10}}\n' "$3"
}
well() { init; echo "$n" >> made.txt; result false done 0.25; }
fails() { init; result true "no idea" 0.5; exit 1; }
limit() {
  init; echo half > half.txt; result true "Claude AI usage limit reached|$1" 0.125; exit 1
}
limit_untold() { init; printf '{"type":"rate_limit_event","rate_limit_info":{}}\n'
  printf '{"type":"result","is_error":true,"api_error_status":429,"result":"busy",'
  printf '"session_id":"%s","usage":{}}\n' "$said"; exit 1; }
gone() { printf '{"type":"result","is_error":true,"subtype":"error_during_execution",'
  printf '"errors":["No conversation found with session ID: x"]}\n'; exit 1; }
hangs() { init; echo half > half.txt; touch "$LEDGER.hangs"; while :; do sleep 0.05; done; }
hangs_silently() { touch "$LEDGER.hangs"; while :; do sleep 0.05; done; }
eval "$(sed -n "${n}p" "$LEDGER.lines")"
"""


class Client:
    """One fake client, its lines and its ledger."""

    def __init__(self, folder: Path) -> None:
        self.ledger = folder / "ledger"
        self._script = folder / "client.sh"
        self._script.write_text(_SCRIPT, encoding="utf-8")

    def runner(self, **more: object) -> Runner:
        made = Runner("claude", CLAUDE, ("sh", str(self._script)))
        return made._replace(**more)  # type: ignore[arg-type]  # fields of a runner

    def does(self, *lines: str) -> None:
        self._beside("lines").write_text("\n".join(lines), encoding="utf-8")

    def calls(self) -> list[list[str]]:
        """How it was called: `new` or `resumed`, with which session."""
        return [line.split(" ") for line in self.ledger.read_text(encoding="utf-8").splitlines()]

    def prompt(self, number: int) -> str:
        return self._beside(f"prompt-{number}").read_text(encoding="utf-8")

    def env(self, number: int) -> dict[str, str]:
        lines = self._beside(f"env-{number}").read_text(encoding="utf-8").splitlines()
        return dict(line.partition("=")[::2] for line in lines)

    def rest(self) -> list[str]:
        """What other commands wrote down beside it."""
        return self._beside("rest").read_text(encoding="utf-8").split()

    @property
    def hangs(self) -> Path:
        """There once it hangs."""
        return self._beside("hangs")

    def hangs_no_more(self) -> None:
        self.hangs.unlink()

    def _beside(self, name: str) -> Path:
        return self.ledger.with_name(f"ledger.{name}")


def judges(score: str) -> str:
    """The line of a critic, who gives the same score in everything."""
    given = ", ".join(f'\\"{name}\\": {score}' for name in WEIGHTS)
    block = f"\\`\\`\\`json\\n{{{given}}}\\n\\`\\`\\`\\nMore.\\n<!-- AGENT_COMPLETE -->\\n"
    return (
        f'printf "{block}" > "$STANDFAST_OUTPUTS/quality-scores.md"; init; result false done 0.125'
    )
