# Statements of everyday work, one a line. Nobody is asked about any of them.
SELECT * FROM users WHERE id = 3
SELECT count(*) FROM orders
SELECT * FROM information_schema.tables
SELECT table_name FROM information_schema.columns WHERE table_schema = 'public'
SELECT version()
SELECT current_setting('server_version')
SHOW TABLES
SHOW ALL
PRAGMA table_info(users)
PRAGMA foreign_keys = ON
PRAGMA journal_mode = WAL
PRAGMA integrity_check
PRAGMA user_version = 3
EXPLAIN SELECT * FROM t
EXPLAIN ANALYZE SELECT * FROM t
INSERT INTO t (a) VALUES (1), (2)
INSERT INTO t (a) VALUES (1) ON CONFLICT DO NOTHING
INSERT INTO t (a) VALUES (1) ON DUPLICATE KEY UPDATE a = 2
INSERT INTO notes VALUES ('DROP TABLE users; DELETE FROM t')
INSERT INTO notes VALUES ('it''s 1=1 -- fine')
UPDATE users SET name = 'x' WHERE id = 3
UPDATE users SET last_seen = now() WHERE email = 'a@b.example'
DELETE FROM sessions WHERE expires_at < now()
DELETE FROM t WHERE id IN (1, 2, 3)
DELETE FROM t WHERE created_at < now() - interval '90 days'
CREATE TABLE t (id int primary key, a text not null)
CREATE TABLE t (id int REFERENCES u (id) ON DELETE CASCADE ON UPDATE SET NULL)
CREATE TABLE IF NOT EXISTS t (id int)
CREATE TEMP TABLE x AS SELECT 1
CREATE VIEW v AS SELECT * FROM t
CREATE OR REPLACE VIEW v AS SELECT * FROM t
CREATE INDEX CONCURRENTLY i ON t (a)
CREATE INDEX IF NOT EXISTS i ON t (a)
CREATE SCHEMA app
CREATE SEQUENCE s
CREATE TYPE mood AS ENUM ('a', 'b')
CREATE EXTENSION IF NOT EXISTS pg_trgm
CREATE EXTENSION "uuid-ossp"
CREATE FUNCTION add(a int, b int) RETURNS int AS $$ SELECT a + b $$ LANGUAGE sql
CREATE FUNCTION f() RETURNS trigger AS $$ BEGIN NEW.updated_at = now(); RETURN NEW; END $$ LANGUAGE plpgsql
CREATE OR REPLACE FUNCTION f(x int) RETURNS void AS $$ BEGIN UPDATE t SET a = 1 WHERE id = x; END $$ LANGUAGE plpgsql
ALTER TABLE t ADD COLUMN c int
ALTER TABLE t ADD COLUMN c int DEFAULT 3
ALTER TABLE t ADD COLUMN c timestamptz NOT NULL DEFAULT now()
ALTER TABLE t ADD CONSTRAINT c CHECK (a > 0) NOT VALID
ALTER TABLE t VALIDATE CONSTRAINT c
ALTER TABLE t ALTER COLUMN a SET DEFAULT 3
ALTER TABLE t ENABLE ROW LEVEL SECURITY
COMMENT ON TABLE t IS 'x'
BEGIN
COMMIT
ROLLBACK
BEGIN; UPDATE t SET a = 1 WHERE id = 1; COMMIT
SET search_path = app, public
SET client_encoding = 'UTF8'
SET NAMES utf8mb4
SET statement_timeout = '5s'
SET TIME ZONE 'UTC'
SET TRANSACTION ISOLATION LEVEL SERIALIZABLE
SET @x = 3
SET autocommit = 0
USE app
ANALYZE t
VACUUM t
VACUUM ANALYZE
REFRESH MATERIALIZED VIEW CONCURRENTLY mv
COPY t TO STDOUT
COPY t FROM STDIN
WITH x AS (SELECT * FROM t) SELECT * FROM x
WITH RECURSIVE x(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM x WHERE n < 9) SELECT n FROM x
SELECT * FROM t UNION ALL SELECT * FROM u
SELECT a FROM t UNION SELECT b FROM u
SELECT * FROM t WHERE 1=1 AND a = 2
SELECT CASE WHEN a = 1 THEN 'x' ELSE 'y' END FROM t
SELECT name || ' ' || last FROM t
SELECT 'x' AS y, "delete", [drop] FROM t
SELECT replace(a, 'b', 'c') FROM t
SELECT * FROM t -- all of them
/* report */ SELECT 1
SELECT $1::text
MERGE INTO t USING s ON t.id = s.id WHEN MATCHED THEN UPDATE SET a = s.a WHEN NOT MATCHED THEN INSERT (id) VALUES (s.id)
REPLACE INTO settings (k, v) VALUES ('a', 'b')
DROP TABLE IF EXISTS temp_x
PREPARE p (int) AS SELECT * FROM t WHERE id = $1
EXECUTE p(3)
DECLARE @x int = 3; SELECT @x
DECLARE c CURSOR FOR SELECT * FROM t
EXEC sp_help 'users'
EXEC sp_who
LISTEN x
GO
SELECT TOP 10 * FROM users
SELECT * FROM users LIMIT 10
DESCRIBE users
SHOW CREATE TABLE users
ATTACH 'other.db' AS o
SELECT load_time, replica FROM t
SELECT * FROM system
SELECT user, host FROM mysql.db
SELECT datname FROM pg_database
SELECT pid, query FROM pg_stat_activity
SELECT pg_size_pretty(pg_database_size('app'))
SELECT * FROM read_csv('data.csv')
CREATE TABLE t AS SELECT * FROM read_parquet('x.parquet')
SELECT nextval('s')
SELECT set_config('app.user', '3', false)
SELECT set_config('search_path', 'app', false)
DELETE FROM t WHERE id = 3 RETURNING *
DELETE FROM t USING u WHERE t.a = u.b
UPDATE t SET a = a + 1 WHERE a IS NULL
UPDATE t JOIN u ON u.id = t.u SET t.a = 1
DELETE FROM t WHERE 1=1 AND id = 3
DELETE FROM t WHERE 1=0
DELETE FROM t ORDER BY id LIMIT 10
DO $$ BEGIN PERFORM 1; END $$
CREATE POLICY p ON t FOR SELECT USING (owner = current_user)
EXECUTE IMMEDIATE 'SELECT 1'
SELECT 'EXEC xp_cmdshell' AS note
SELECT a AS "drop table" FROM t
SELECT pg_sleep(0.1)
DISCARD PLANS
CHECKPOINT
