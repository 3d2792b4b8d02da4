"""Runs a command and writes what it cost: measure.py REPORT COMMAND...

The report is one JSON object: user and system seconds of the command (all threads, and children it
waited for), seconds elapsed, largest resident memory in KiB, exit code. `wait4` gives exactly this
child's usage, in microseconds.
"""

import json
import os
import sys
import time

begin = time.monotonic()
pid = os.posix_spawnp(sys.argv[2], sys.argv[2:], os.environ)
_, status, usage = os.wait4(pid, 0)
with open(sys.argv[1], "w", encoding="utf-8") as report:
    json.dump({"user_s": usage.ru_utime, "system_s": usage.ru_stime,
               "elapsed_s": time.monotonic() - begin, "peak_kb": usage.ru_maxrss,
               "code": os.waitstatus_to_exitcode(status)}, report)
