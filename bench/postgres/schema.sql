-- The ledger of attempts as one would write it on PostgreSQL: a table for each
-- kind of thing, counters for exposure, one row for each decision.

CREATE TABLE contracts (
  id              text PRIMARY KEY,
  state           text NOT NULL DEFAULT 'OPEN',
  budget          numeric NOT NULL,
  reserved        numeric NOT NULL DEFAULT 0,
  spent           numeric NOT NULL DEFAULT 0,
  deadline        bigint NOT NULL,
  actions         text[] NOT NULL,
  resources       text[] NOT NULL,
  needs_approval  boolean NOT NULL DEFAULT false,
  max_attempts    integer NOT NULL,
  max_auth_age_ms bigint NOT NULL,
  last_now        bigint NOT NULL DEFAULT 0
) WITH (fillfactor = 50);

CREATE TABLE grants (
  contract   text NOT NULL,
  id         text NOT NULL,
  parent     text,
  subject    text NOT NULL,
  actions    text[] NOT NULL,
  resources  text[] NOT NULL,
  not_before bigint NOT NULL,
  expires_at bigint NOT NULL,
  "limit"    numeric NOT NULL,
  reserved   numeric NOT NULL DEFAULT 0,
  spent      numeric NOT NULL DEFAULT 0,
  revoked    boolean NOT NULL DEFAULT false,
  PRIMARY KEY (contract, id)
) WITH (fillfactor = 50);

CREATE TABLE approvals (
  contract    text NOT NULL,
  id          text NOT NULL,
  run         text NOT NULL,
  approver    text NOT NULL,
  fingerprint bytea NOT NULL,
  expires_at  bigint NOT NULL,
  uses        integer NOT NULL,
  used        integer NOT NULL DEFAULT 0,
  withdrawn   boolean NOT NULL DEFAULT false,
  PRIMARY KEY (contract, id)
);

CREATE TABLE runs (
  contract text NOT NULL,
  id       text NOT NULL,
  state    text NOT NULL,
  epoch    bigint NOT NULL DEFAULT 0,
  reserved numeric NOT NULL DEFAULT 0,
  spent    numeric NOT NULL DEFAULT 0,
  PRIMARY KEY (contract, id)
) WITH (fillfactor = 50);

CREATE TABLE operations (
  contract    text NOT NULL,
  id          text NOT NULL,
  run         text NOT NULL,
  grant_id    text NOT NULL,
  subject     text NOT NULL,
  approval    text,
  action      jsonb NOT NULL,
  fingerprint bytea NOT NULL,
  PRIMARY KEY (contract, id)
);

CREATE TABLE attempts (
  contract    text NOT NULL,
  id          text NOT NULL,
  operation   text NOT NULL,
  run         text NOT NULL,
  grant_id    text NOT NULL,
  fingerprint bytea NOT NULL,
  number      integer NOT NULL,
  state       text NOT NULL,
  epoch       bigint NOT NULL,
  amount      numeric NOT NULL,
  reserved    numeric NOT NULL,
  spent       numeric NOT NULL DEFAULT 0,
  PRIMARY KEY (contract, id)
) WITH (fillfactor = 70);

-- What is out in the world and unresolved: few rows at any time.
CREATE INDEX attempts_open ON attempts (contract, run, fingerprint) WHERE state IN ('DISPATCHED', 'UNKNOWN');

CREATE TABLE decisions (
  seq        bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  contract   text NOT NULL,
  principal  text NOT NULL,
  command_id text NOT NULL,
  type       text NOT NULL,
  at         bigint NOT NULL,
  body       text NOT NULL,
  body_hash  bytea NOT NULL,
  outcome    text NOT NULL,
  code       text,
  events     jsonb,
  UNIQUE (contract, principal, command_id)
);
