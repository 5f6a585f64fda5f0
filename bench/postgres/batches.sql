-- The same commands, many of one run in one transaction and set by set: what one
-- would write for throughput. Checks that are the same for all of a batch are
-- made once.

CREATE FUNCTION admit_batch(p_contract text, p_principal text, p_run text, p_grant text, p_subject text, p_action text, p_amount numeric,
    p_checked bigint, p_policy text, p_checks_ok boolean, p_body text, p_ids text[])
  RETURNS integer LANGUAGE plpgsql AS $$
DECLARE
  c contracts; r runs; g grants; common text; at bigint; n integer;
BEGIN
  SELECT * INTO STRICT c FROM contracts WHERE id = p_contract FOR UPDATE;
  at := greatest(c.last_now, now_ms());
  SELECT * INTO r FROM runs WHERE contract = p_contract AND id = p_run;
  SELECT * INTO g FROM grants WHERE contract = p_contract AND id = p_grant FOR UPDATE;
  common := coalesce(CASE
    WHEN r.id IS NULL THEN 'RUN_NOT_FOUND'
    WHEN r.state <> 'RUNNING' THEN 'RUN_NOT_RUNNING'
    WHEN c.state <> 'OPEN' THEN 'MISSION_NOT_OPEN'
    WHEN at >= c.deadline THEN 'CONTRACT_EXPIRED'
    WHEN g.id IS NULL THEN 'GRANT_NOT_FOUND'
    WHEN g.subject <> p_subject THEN 'GRANT_SUBJECT_MISMATCH'
    WHEN c.needs_approval THEN 'APPROVAL_REQUIRED' END,
    authorized(c, at, p_checked, p_policy, p_checks_ok), grant_chain(p_contract, p_grant, at, 0));
  WITH asked AS (
    SELECT id, ord, replace(p_action, '$', id)::jsonb AS action, sha256(convert_to(p_body || id, 'UTF8')) AS hash
    FROM unnest(p_ids) WITH ORDINALITY AS ids (id, ord)
    WHERE NOT EXISTS (SELECT FROM decisions d WHERE d.contract = p_contract AND d.principal = p_principal AND d.command_id = id || '-a')
  ), judged AS (
    SELECT *, sha256(convert_to(action::text, 'UTF8')) AS print, CASE
      WHEN common IS NOT NULL THEN common
      WHEN EXISTS (SELECT FROM operations o WHERE o.contract = p_contract AND o.id = asked.id) THEN 'OPERATION_EXISTS'
      WHEN EXISTS (SELECT FROM attempts t WHERE t.contract = p_contract AND t.id = asked.id || '1') THEN 'ATTEMPT_EXISTS'
      WHEN NOT action->>'capability' = ANY (c.actions) THEN 'ACTION_NOT_ALLOWED'
      WHEN NOT action->>'resource' = ANY (c.resources) THEN 'RESOURCE_NOT_ALLOWED'
      WHEN NOT action->>'capability' = ANY (g.actions) THEN 'ACTION_NOT_GRANTED'
      WHEN NOT action->>'resource' = ANY (g.resources) THEN 'RESOURCE_NOT_GRANTED'
      WHEN c.spent + c.reserved + ord * p_amount > c.budget THEN 'BUDGET_EXCEEDED'
      WHEN g.spent + g.reserved + ord * p_amount > g."limit" THEN 'GRANT_LIMIT_EXCEEDED' END AS code
    FROM asked
  ), operations_made AS (
    INSERT INTO operations SELECT p_contract, id, p_run, p_grant, p_subject, NULL, action, print FROM judged WHERE code IS NULL
  ), attempts_made AS (
    INSERT INTO attempts SELECT p_contract, id || '1', id, p_run, p_grant, print, 1, 'PREPARED', r.epoch, p_amount, p_amount
    FROM judged WHERE code IS NULL
  ), recorded AS (
    INSERT INTO decisions (contract, principal, command_id, type, at, body, body_hash, outcome, code, events)
    SELECT p_contract, p_principal, id || '-a', 'admit', at, p_body, hash, CASE WHEN code IS NULL THEN 'accepted' ELSE 'rejected' END, code,
      CASE WHEN code IS NULL THEN jsonb_build_array(
        jsonb_build_object('type', 'operationAdmitted', 'runId', p_run, 'operationId', id, 'grantId', p_grant, 'subject', p_subject,
          'action', action, 'fingerprint', encode(print, 'hex'), 'by', p_principal),
        jsonb_build_object('type', 'attemptPrepared', 'runId', p_run, 'operationId', id, 'attemptId', id || '1', 'number', 1,
          'amount', p_amount::text, 'epoch', r.epoch, 'by', p_principal)) END
    FROM judged ORDER BY ord
  )
  SELECT count(*) INTO n FROM judged WHERE code IS NULL;
  PERFORM expose(p_contract, p_run, p_grant, n * p_amount, 0, at);
  RETURN n;
END $$;

CREATE FUNCTION dispatch_batch(p_contract text, p_principal text, p_run text, p_grant text, p_checked bigint, p_policy text, p_checks_ok boolean,
    p_body text, p_ids text[])
  RETURNS integer LANGUAGE plpgsql AS $$
DECLARE
  c contracts; r runs; common text; at bigint; n integer;
BEGIN
  SELECT * INTO STRICT c FROM contracts WHERE id = p_contract FOR UPDATE;
  at := greatest(c.last_now, now_ms());
  SELECT * INTO r FROM runs WHERE contract = p_contract AND id = p_run;
  common := coalesce(CASE
    WHEN r.state <> 'RUNNING' THEN 'RUN_NOT_RUNNING'
    WHEN c.state <> 'OPEN' THEN 'MISSION_NOT_OPEN'
    WHEN at >= c.deadline THEN 'CONTRACT_EXPIRED'
    WHEN c.spent + c.reserved > c.budget THEN 'BUDGET_EXCEEDED' END,
    authorized(c, at, p_checked, p_policy, p_checks_ok), grant_chain(p_contract, p_grant, at, 0));
  WITH asked AS (
    SELECT ids.id, ord, t.state, t.epoch, t.fingerprint, sha256(convert_to(p_body || ids.id, 'UTF8')) AS hash,
      row_number() OVER (PARTITION BY t.fingerprint ORDER BY ord) AS same
    FROM unnest(p_ids) WITH ORDINALITY AS ids (id, ord)
    LEFT JOIN attempts t ON t.contract = p_contract AND t.id = ids.id || '1'
    WHERE NOT EXISTS (SELECT FROM decisions d WHERE d.contract = p_contract AND d.principal = p_principal AND d.command_id = ids.id || '-d')
  ), judged AS (
    SELECT *, CASE
      WHEN state IS NULL THEN 'ATTEMPT_NOT_FOUND'
      WHEN state <> 'PREPARED' THEN 'ATTEMPT_NOT_PREPARED'
      WHEN common IS NOT NULL THEN common
      WHEN epoch <> r.epoch THEN 'EPOCH_STALE'
      WHEN same > 1 OR EXISTS (SELECT FROM attempts o WHERE o.contract = p_contract AND o.run = p_run AND o.fingerprint = asked.fingerprint
        AND o.state IN ('DISPATCHED', 'UNKNOWN')) THEN 'EFFECT_UNRESOLVED' END AS code
    FROM asked
  ), changed AS (
    UPDATE attempts t SET state = 'DISPATCHED' FROM judged j WHERE t.contract = p_contract AND t.id = j.id || '1' AND j.code IS NULL
  ), recorded AS (
    INSERT INTO decisions (contract, principal, command_id, type, at, body, body_hash, outcome, code, events)
    SELECT p_contract, p_principal, id || '-d', 'dispatch', at, p_body, hash, CASE WHEN code IS NULL THEN 'accepted' ELSE 'rejected' END, code,
      CASE WHEN code IS NULL THEN jsonb_build_array(
        jsonb_build_object('type', 'attemptDispatched', 'attemptId', id || '1', 'by', p_principal)) END
    FROM judged ORDER BY ord
  )
  SELECT count(*) INTO n FROM judged WHERE code IS NULL;
  UPDATE contracts SET last_now = at WHERE id = p_contract;
  RETURN n;
END $$;

CREATE FUNCTION settle_batch(p_contract text, p_principal text, p_run text, p_grant text, p_cost numeric, p_body text, p_ids text[])
  RETURNS integer LANGUAGE plpgsql AS $$
DECLARE
  c contracts; at bigint; n integer; released numeric;
BEGIN
  SELECT * INTO STRICT c FROM contracts WHERE id = p_contract FOR UPDATE;
  at := greatest(c.last_now, now_ms());
  WITH asked AS (
    SELECT ids.id, ord, t.state, t.reserved, t.amount, sha256(convert_to(p_body || ids.id, 'UTF8')) AS hash
    FROM unnest(p_ids) WITH ORDINALITY AS ids (id, ord)
    LEFT JOIN attempts t ON t.contract = p_contract AND t.id = ids.id || '1'
    WHERE NOT EXISTS (SELECT FROM decisions d WHERE d.contract = p_contract AND d.principal = p_principal AND d.command_id = ids.id || '-s')
  ), judged AS (
    SELECT *, CASE
      WHEN state IS NULL THEN 'ATTEMPT_NOT_FOUND'
      WHEN state = 'PREPARED' THEN 'ATTEMPT_NOT_DISPATCHED'
      WHEN state NOT IN ('DISPATCHED', 'UNKNOWN') THEN 'ATTEMPT_SETTLED' END AS code
    FROM asked
  ), changed AS (
    UPDATE attempts t SET state = 'APPLIED', reserved = 0, spent = p_cost FROM judged j
    WHERE t.contract = p_contract AND t.id = j.id || '1' AND j.code IS NULL
  ), recorded AS (
    INSERT INTO decisions (contract, principal, command_id, type, at, body, body_hash, outcome, code, events)
    SELECT p_contract, p_principal, id || '-s', 'settle', at, p_body, hash, CASE WHEN code IS NULL THEN 'accepted' ELSE 'rejected' END, code,
      CASE WHEN code IS NULL THEN jsonb_build_array(
        jsonb_build_object('type', 'attemptSettled', 'attemptId', id || '1', 'effect', 'CONFIRMED_APPLIED', 'actualCost', p_cost::text,
          'released', reserved::text, 'overrun', greatest(0, p_cost - amount)::text, 'by', p_principal)) END
    FROM judged ORDER BY ord
  )
  SELECT count(*), coalesce(sum(reserved), 0) INTO n, released FROM judged WHERE code IS NULL;
  PERFORM expose(p_contract, p_run, p_grant, -released, n * p_cost, at);
  RETURN n;
END $$;
