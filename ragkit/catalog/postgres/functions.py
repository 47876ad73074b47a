"""SQL functions that queries call and PostgreSQL lacks: those of SQLite, and ragkit's own."""

FUNCTIONS = r"""
CREATE OR REPLACE FUNCTION folded(value text) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN CASE
    WHEN octet_length(value) = length(value) THEN lower(value COLLATE "C") COLLATE "C"
    ELSE casefold(normalize(value, NFKC) COLLATE pg_unicode_fast) COLLATE "C" END;

-- Whether one text contains another: queries use it in conditions only.
CREATE OR REPLACE FUNCTION instr(value text, part text) RETURNS boolean
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN strpos(value, part) > 0;

CREATE OR REPLACE FUNCTION substr(value text, start bigint, count bigint) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN pg_catalog.substr(value, CAST(start AS integer), CAST(greatest(count, 0) AS integer));

CREATE OR REPLACE FUNCTION date(seconds bigint, unit text) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN to_char(to_timestamp(seconds) AT TIME ZONE 'UTC', 'YYYY-MM-DD');

CREATE OR REPLACE FUNCTION min(one bigint, other bigint) RETURNS bigint
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN least(one, other);

CREATE OR REPLACE FUNCTION max(one double precision, other double precision)
RETURNS double precision
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN greatest(one, other);

CREATE OR REPLACE AGGREGATE total(double precision)
(sfunc = float8pl, stype = double precision, initcond = '0');

-- By the server's clock, since those of machines differ.
CREATE OR REPLACE FUNCTION now_seconds() RETURNS double precision
LANGUAGE sql VOLATILE RETURN CAST(extract(epoch FROM clock_timestamp()) AS double precision);

-- JSON is stored as text, in which even an escaped NUL is invalid here.
CREATE OR REPLACE FUNCTION parsed(document text) RETURNS json
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CAST(replace(document, '\u0000', '\ufffd') AS json);

CREATE OR REPLACE FUNCTION json_extract(document text, path text) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN parsed(document) #>> ARRAY[
    CASE path WHEN '$[#-1]' THEN '-1' ELSE btrim(path, '$.[]') END];

CREATE OR REPLACE FUNCTION json_type(document text, path text) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN json_typeof(parsed(document) #> ARRAY[btrim(path, '$.[]')]);

CREATE OR REPLACE FUNCTION json_array_length(document text, path text) RETURNS bigint
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN CASE json_type(document, path)
    WHEN 'array' THEN json_array_length(parsed(document) #> ARRAY[btrim(path, '$.[]')]) ELSE 0 END;

CREATE OR REPLACE FUNCTION json_set(document text, path text, value text) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN CAST(
    jsonb_set(CAST(document AS jsonb), ARRAY[btrim(path, '$.[]')], to_jsonb(value)) AS text);

CREATE OR REPLACE FUNCTION json_list(document text) RETURNS TABLE (key bigint, value text)
LANGUAGE sql IMMUTABLE PARALLEL SAFE ROWS 50 AS $$
    SELECT place - 1, one FROM json_array_elements_text(parsed(document))
    WITH ORDINALITY AS each (one, place) $$;

CREATE OR REPLACE FUNCTION json_rows(document json)
RETURNS TABLE (key text, value text, type text)
LANGUAGE sql IMMUTABLE PARALLEL SAFE ROWS 8 AS $$
    SELECT each.key, each.value #>> '{}', CASE json_typeof(each.value)
        WHEN 'string' THEN 'text' WHEN 'boolean' THEN each.value #>> '{}'
        ELSE json_typeof(each.value) END
    FROM (
        SELECT CAST(place - 1 AS text) AS key, one AS value FROM json_array_elements(
            CASE json_typeof(document) WHEN 'array' THEN document ELSE '[]' END)
        WITH ORDINALITY AS listed (one, place)
        UNION ALL SELECT named.key, named.value FROM pg_catalog.json_each(
            CASE json_typeof(document) WHEN 'object' THEN document ELSE '{}' END) AS named
        UNION ALL SELECT '0', document WHERE json_typeof(document) NOT IN ('array', 'object')
    ) AS each $$;

CREATE OR REPLACE FUNCTION json_each(document text)
RETURNS TABLE (key text, value text, type text)
LANGUAGE sql IMMUTABLE PARALLEL SAFE ROWS 8 AS $$ SELECT * FROM json_rows(parsed(document)) $$;

CREATE OR REPLACE FUNCTION json_each(document text, path text)
RETURNS TABLE (key text, value text, type text)
LANGUAGE sql IMMUTABLE PARALLEL SAFE ROWS 8 AS $$
    SELECT * FROM json_rows(parsed(document) #> ARRAY[btrim(path, '$.[]')]) $$;

CREATE OR REPLACE FUNCTION number_at(list text, place integer) RETURNS bigint
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN CAST(CAST(list AS json) ->> place AS bigint);

DROP OPERATOR IF EXISTS ->> (text, integer);
CREATE OPERATOR ->> (function = number_at, leftarg = text, rightarg = integer);

DROP OPERATOR IF EXISTS ->> (text, text);
CREATE OPERATOR ->> (function = json_extract, leftarg = text, rightarg = text)
"""
"""They are created again whenever they differ from those of the library."""
