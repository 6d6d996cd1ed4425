"""The schema `skill_learner` of a database, in named steps that are applied once, under a lock.

Rows of one library are seen by its members only, by the database's own row-level security: a
connection says which library it is for, and the policies ask whether its role belongs to it.
`changed_in` is the transaction that wrote a row; readers ask for what was written in or after the
oldest transaction that was still open when they last asked, so nothing committed late is missed.
`versions` keeps every text: a version that a reader saw and that is no longer there tells that the
database was set back, or made anew. `deleted` names what a person deleted.
"""

from __future__ import annotations

_TABLES = ("skills", "versions", "counters", "reviews", "spend")
_SEPARATION = """
    ALTER TABLE skill_learner.{table} ENABLE ROW LEVEL SECURITY;
    ALTER TABLE skill_learner.{table} FORCE ROW LEVEL SECURITY;
    CREATE POLICY own_library ON skill_learner.{table}
        USING (library = (SELECT skill_learner.allowed_library()));
    GRANT SELECT, INSERT, UPDATE ON skill_learner.{table} TO PUBLIC;
"""
MIGRATIONS: tuple[tuple[str, str], ...] = (
    (
        "001-libraries",
        """
        CREATE TABLE skill_learner.libraries (
            name text PRIMARY KEY, members text[] NOT NULL, created timestamptz DEFAULT now());
        CREATE FUNCTION skill_learner.open_library(wanted text) RETURNS boolean
            LANGUAGE sql SECURITY DEFINER SET search_path = skill_learner, pg_temp AS $$
            INSERT INTO libraries (name, members) VALUES (wanted, ARRAY[session_user::text])
                ON CONFLICT DO NOTHING;
            SELECT session_user::text = ANY (members) FROM libraries WHERE name = wanted $$;
        CREATE FUNCTION skill_learner.admit(wanted text, role text) RETURNS void
            LANGUAGE sql SECURITY DEFINER SET search_path = skill_learner, pg_temp AS $$
            UPDATE libraries SET members = array_append(array_remove(members, role), role)
                WHERE name = wanted AND session_user::text = ANY (members) $$;
        CREATE FUNCTION skill_learner.allowed_library() RETURNS text
            LANGUAGE sql STABLE SECURITY DEFINER SET search_path = skill_learner, pg_temp AS $$
            SELECT name FROM libraries WHERE session_user::text = ANY (members)
                AND name = current_setting('skill_learner.library', true) $$;
        GRANT USAGE ON SCHEMA skill_learner TO PUBLIC;
        GRANT SELECT ON skill_learner.migrations TO PUBLIC;
        """,
    ),
    (
        "002-skills",
        """
        CREATE TABLE skill_learner.skills (
            library text NOT NULL, name text NOT NULL, token text NOT NULL, parent text NOT NULL,
            version bigint NOT NULL DEFAULT 1, files text NOT NULL, machine text NOT NULL,
            changed_in xid8 NOT NULL DEFAULT pg_current_xact_id(),
            changed_at timestamptz NOT NULL DEFAULT now(), PRIMARY KEY (library, name));
        CREATE INDEX skills_changes ON skill_learner.skills (library, changed_in);
        CREATE TABLE skill_learner.versions (
            library text NOT NULL, name text NOT NULL, version bigint NOT NULL, token text NOT NULL,
            files text NOT NULL, machine text NOT NULL, at timestamptz NOT NULL DEFAULT now(),
            PRIMARY KEY (library, name, version));
        CREATE TABLE skill_learner.counters (
            library text NOT NULL, machine text NOT NULL, skill text NOT NULL, kind text NOT NULL,
            value bigint NOT NULL, changed_in xid8 NOT NULL DEFAULT pg_current_xact_id(),
            PRIMARY KEY (library, machine, skill, kind));
        CREATE INDEX counters_changes ON skill_learner.counters (library, changed_in);
        """,
    ),
    (
        "003-reviews",
        """
        CREATE TABLE skill_learner.reviews (
            library text NOT NULL, episode text NOT NULL, holder text NOT NULL DEFAULT '',
            lease_until timestamptz NOT NULL DEFAULT '-infinity',
            done boolean NOT NULL DEFAULT false,
            attempts integer NOT NULL DEFAULT 0, PRIMARY KEY (library, episode));
        CREATE TABLE skill_learner.spend (
            library text NOT NULL, day date NOT NULL, reviews bigint NOT NULL,
            tokens bigint NOT NULL, PRIMARY KEY (library, day));
        """,
    ),
    ("004-separation", "".join(_SEPARATION.format(table=table) for table in _TABLES)),
    (
        "006-reservations",
        """
        CREATE TABLE skill_learner.reservations (
            library text NOT NULL, id text NOT NULL,
            day date NOT NULL DEFAULT (now() AT TIME ZONE 'UTC')::date,
            reviews bigint NOT NULL, tokens bigint NOT NULL,
            counted boolean NOT NULL DEFAULT false, PRIMARY KEY (library, id));
        """
        + _SEPARATION.format(table="reservations")
        + "GRANT DELETE ON skill_learner.reservations TO PUBLIC;",
    ),
    (
        "007-members-and-deleted",
        """
        CREATE FUNCTION skill_learner.is_member(members text[]) RETURNS boolean
            LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
            SELECT session_user::text = ANY (members) OR EXISTS (
                SELECT FROM pg_roles AS r WHERE r.rolname::text = ANY (members)
                    AND pg_has_role(session_user, r.oid, 'USAGE')
                    AND NOT (SELECT rolsuper FROM pg_roles WHERE rolname = session_user)) $$;
        CREATE FUNCTION skill_learner.may_use(wanted text) RETURNS boolean
            LANGUAGE sql STABLE SECURITY DEFINER SET search_path = skill_learner, pg_temp AS $$
            SELECT is_member(members) FROM libraries WHERE name = wanted $$;
        CREATE OR REPLACE FUNCTION skill_learner.open_library(wanted text) RETURNS boolean
            LANGUAGE sql SECURITY DEFINER SET search_path = skill_learner, pg_temp AS $$
            INSERT INTO libraries (name, members) VALUES (wanted, ARRAY[session_user::text])
                ON CONFLICT DO NOTHING;
            SELECT is_member(members) FROM libraries WHERE name = wanted $$;
        CREATE OR REPLACE FUNCTION skill_learner.allowed_library() RETURNS text
            LANGUAGE sql STABLE SECURITY DEFINER SET search_path = skill_learner, pg_temp AS $$
            SELECT name FROM libraries WHERE name = current_setting('skill_learner.library', true)
                AND is_member(members) $$;
        CREATE OR REPLACE FUNCTION skill_learner.admit(wanted text, role text) RETURNS void
            LANGUAGE plpgsql SECURITY DEFINER SET search_path = skill_learner, pg_temp AS $$
            BEGIN
                IF may_use(wanted) IS NULL THEN
                    RAISE EXCEPTION 'there is no library %', quote_literal(wanted);
                ELSIF NOT may_use(wanted) THEN
                    RAISE EXCEPTION 'only a member of the library % may admit, and % is none',
                        quote_literal(wanted), quote_ident(session_user);
                ELSIF NOT EXISTS (SELECT FROM pg_catalog.pg_roles WHERE rolname::text = role) THEN
                    RAISE EXCEPTION 'there is no role %', quote_literal(role);
                END IF;
                UPDATE libraries SET members = array_append(array_remove(members, role), role)
                    WHERE name = wanted;
            END $$;
        CREATE TABLE skill_learner.deleted (
            library text NOT NULL, name text NOT NULL,
            changed_in xid8 NOT NULL DEFAULT pg_current_xact_id(),
            changed_at timestamptz NOT NULL DEFAULT now(), PRIMARY KEY (library, name));
        CREATE INDEX deleted_changes ON skill_learner.deleted (library, changed_in);
        CREATE FUNCTION skill_learner.note_deleted() RETURNS trigger LANGUAGE plpgsql AS $$
            BEGIN
                INSERT INTO skill_learner.deleted (library, name) VALUES (OLD.library, OLD.name)
                    ON CONFLICT (library, name) DO UPDATE
                    SET changed_in = pg_current_xact_id(), changed_at = now();
                RETURN NULL;
            END $$;
        CREATE TRIGGER skills_deleted AFTER DELETE ON skill_learner.skills
            FOR EACH ROW EXECUTE FUNCTION skill_learner.note_deleted();
        """
        + _SEPARATION.format(table="deleted"),
    ),
)
VECTORS = (
    "005-vectors",
    """
    CREATE TABLE skill_learner.vectors (
        library text NOT NULL, model text NOT NULL, hash text NOT NULL,
        vector {schema}.vector NOT NULL, PRIMARY KEY (library, model, hash));
    """
    + _SEPARATION.format(table="vectors"),
)
"""Only where the server has pgvector and lets this role use it; everything else works without."""

STANDING = """
    SELECT pg_snapshot_xmin(s)::text, pg_snapshot_xmax(s)::text,
        current_setting('skill_learner.library', true) FROM pg_current_snapshot() AS s
"""
HOW_MANY = "SELECT count(*) FROM skill_learner.skills WHERE library = %(library)s"
PULL = """
    SELECT 'open', coalesce(current_setting('skill_learner.library', true), ''),
        skill_learner.may_use(%(library)s)::text,
        EXISTS (SELECT FROM skill_learner.versions WHERE library = %(library)s
            AND name = %(mark_name)s AND version = %(mark_version)s
            AND (extract(epoch FROM at) * 1000000)::bigint = %(mark_at)s)::text,
        'skill_learner.skills'::regclass::oid::bigint, pg_snapshot_xmin(s)::text,
        pg_snapshot_xmax(s)::text
        FROM pg_current_snapshot() AS s
    UNION ALL
    SELECT 'skill', name, token, CASE WHEN octet_length(files) <= %(most)s THEN files END, version,
        changed_in::text, ''
        FROM skill_learner.skills WHERE library = %(library)s AND changed_in >= %(since)s::xid8
            AND (%(all)s OR changed_in < pg_snapshot_xmax(pg_current_snapshot()))
    UNION ALL
    SELECT 'skill', name, token, CASE WHEN octet_length(files) <= %(most)s THEN files END, version,
        changed_in::text, ''
        FROM skill_learner.skills WHERE library = %(library)s AND name = ANY(%(names)s::text[])
            AND NOT (changed_in >= %(since)s::xid8
                AND (%(all)s OR changed_in < pg_snapshot_xmax(pg_current_snapshot())))
    UNION ALL
    SELECT 'gone', d.name, '', '', 0::bigint, d.changed_in::text, ''
        FROM skill_learner.deleted AS d WHERE library = %(library)s
            AND d.changed_in >= %(since)s::xid8 AND NOT EXISTS (
                SELECT FROM skill_learner.skills AS s
                WHERE s.library = %(library)s AND s.name = d.name)
    UNION ALL
    SELECT 'counter', machine, skill, kind, value, changed_in::text, ''
        FROM skill_learner.counters WHERE library = %(library)s AND changed_in >= %(since)s::xid8
            AND (%(all)s OR changed_in < pg_snapshot_xmax(pg_current_snapshot()))
"""
"""What was written since, the rows with these names, and how the database stands. A row whose
transaction is of the future was written at another server, and came here with a dump: it is told
only where all are."""
NEWEST = """
    SELECT v.name, v.version, (extract(epoch FROM v.at) * 1000000)::bigint
        FROM (SELECT name, version, changed_at FROM skill_learner.skills
            WHERE library = %(library)s AND changed_in < pg_snapshot_xmax(pg_current_snapshot())
            ORDER BY changed_in DESC LIMIT 20) AS s
        JOIN skill_learner.versions AS v ON v.library = %(library)s AND v.name = s.name
            AND v.version = s.version AND v.at = s.changed_at
        ORDER BY v.at DESC LIMIT 1
"""
PUSH = """
    WITH incoming AS (
        SELECT * FROM unnest(%(names)s::text[], %(tokens)s::text[], %(parents)s::text[],
                             %(files)s::text[]) AS i (name, token, parent, files)
    ), written AS (
        INSERT INTO skill_learner.skills AS s
            (library, name, token, parent, version, files, machine)
        SELECT %(library)s, name, token, parent, (
                SELECT coalesce(max(v.version), 0) + 1 FROM skill_learner.versions AS v
                WHERE v.library = %(library)s AND v.name = incoming.name),
            files, %(machine)s FROM incoming ORDER BY name
        ON CONFLICT (library, name) DO UPDATE SET token = excluded.token, parent = excluded.parent,
            files = excluded.files, machine = excluded.machine, version = s.version + 1,
            changed_in = pg_current_xact_id(), changed_at = now()
        WHERE s.token = excluded.parent
        RETURNING name, version, token, files, changed_at
    ), kept AS (
        INSERT INTO skill_learner.versions (library, name, version, token, files, machine)
        SELECT %(library)s, name, version, token, files, %(machine)s FROM written
        ON CONFLICT DO NOTHING
    )
    SELECT name, token, version, (extract(epoch FROM changed_at) * 1000000)::bigint FROM written
"""
COUNT = """
    INSERT INTO skill_learner.counters AS c (library, machine, skill, kind, value)
    SELECT %(library)s, machine, skill, kind, value
        FROM unnest(%(machines)s::text[], %(skills)s::text[], %(kinds)s::text[],
                    %(values)s::bigint[]) AS i (machine, skill, kind, value)
        ORDER BY machine, skill, kind
    ON CONFLICT (library, machine, skill, kind) DO UPDATE SET value = excluded.value,
        changed_in = pg_current_xact_id()
    WHERE c.value < excluded.value
"""
