"""The options of jobs: digests, calendars, backups and scripts, as the settings say."""

from collections.abc import Callable

from agent_core.digest.tools import DigestOptions
from agent_core.execution.subprocesses.confinement import ScriptLimits
from agent_core.state.engine.database import Database
from gateway.app.backups import list_left_out, make_lock, make_place
from gateway.app.settings import Settings
from gateway.home import BACKUPS, DATABASE
from gateway.jobs.calendars import Calendars
from gateway.jobs.system_jobs import BackupPlan


def make_digest_options(settings: Settings, zone: str) -> DigestOptions:
    """Build the options of digests and gates from the settings."""
    return DigestOptions(
        home=settings.home,
        zone=zone,
        github_url=settings.digest.github_url,
        github_token=settings.secrets.github_token or "",
        allow_hosts=settings.digest.allow_hosts,
    )


def make_calendars(
    settings: Settings,
    database: Database,
    zone: str,
    *,
    changed: Callable[[], None],
    now: Callable[[], int],
) -> Calendars:
    """Build the reader of calendars. `zone` is the deployment's IANA time zone."""
    digest = make_digest_options(settings, zone)
    return Calendars(database=database, digest=digest, zone=zone, changed=changed, now=now)


def plan_backups(settings: Settings) -> BackupPlan:
    """Return what a backup contains and where it goes, by the settings. Raises `SettingsError`."""
    lock = make_lock(settings.backup, settings.secrets)
    return BackupPlan(
        home=settings.home,
        folder=settings.home / BACKUPS,
        database=DATABASE,
        left_out=list_left_out(settings.backup, has_secrets=bool(lock)),
        lock=lock,
        place=make_place(settings.backup, settings.secrets, settings.home / BACKUPS),
        keep=settings.jobs.backups,
    )


def make_script_limits(settings: Settings) -> ScriptLimits:
    """Return the limits of scripts that jobs run."""
    return ScriptLimits(
        memory=settings.jobs.script_memory_mb * 1_000_000,
        file=settings.jobs.script_file_mb * 1_000_000,
        processes=settings.jobs.script_processes,
    )
