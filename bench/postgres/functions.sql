-- One function for each command, one transaction for each call. They check what
-- the reducer checks of the same command, in the same order, as far as this
-- workload can tell. They do less in three things: bodies are not validated
-- against the schema, decisions are not chained by hashes, and there is no log to
-- rebuild the tables from.

CREATE FUNCTION now_ms() RETURNS bigint LANGUAGE sql AS
$$ SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint $$;

-- What an earlier decision on this command id says, or nothing.
CREATE FUNCTION decided(p_contract text, p_principal text, p_command text, p_hash bytea) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  before bytea;
BEGIN
  SELECT body_hash INTO before FROM decisions WHERE contract = p_contract AND principal = p_principal AND command_id = p_command;
  IF NOT FOUND THEN
    RETURN NULL;
  END IF;
  RETURN CASE WHEN before = p_hash THEN 'duplicate' ELSE 'COMMAND_ID_REUSED' END;
END $$;

-- Why an authorization does not hold, or nothing.
CREATE FUNCTION authorized(c contracts, p_now bigint, p_checked bigint, p_policy text, p_checks_ok boolean) RETURNS text LANGUAGE sql IMMUTABLE AS $$
  SELECT CASE
    WHEN p_policy = 'DENY' THEN 'POLICY_DENIED'
    WHEN p_policy <> 'ALLOW' THEN 'POLICY_INDETERMINATE'
    WHEN NOT p_checks_ok THEN 'MANDATORY_CHECKS_FAILED'
    WHEN p_checked > p_now THEN 'AUTHORIZATION_IN_FUTURE'
    WHEN p_now - p_checked > c.max_auth_age_ms THEN 'AUTHORIZATION_STALE'
  END $$;

-- Locks a grant and all above it; why the chain does not hold, or what keeps an
-- amount from fitting, or nothing.
CREATE FUNCTION grant_chain(p_contract text, p_grant text, p_now bigint, p_amount numeric) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  g grants;
  next text := p_grant;
  tight boolean := false;
BEGIN
  WHILE next IS NOT NULL LOOP
    SELECT * INTO g FROM grants WHERE contract = p_contract AND id = next FOR UPDATE;
    IF g.revoked THEN RETURN 'GRANT_REVOKED'; END IF;
    IF p_now < g.not_before THEN RETURN 'GRANT_NOT_YET_VALID'; END IF;
    IF p_now >= g.expires_at THEN RETURN 'GRANT_EXPIRED'; END IF;
    tight := tight OR g.spent + g.reserved + p_amount > g."limit";
    next := g.parent;
  END LOOP;
  IF tight THEN RETURN 'GRANT_LIMIT_EXCEEDED'; END IF;
  RETURN NULL;
END $$;

-- Adds to the exposure of a contract, a run and a grant with all above it.
CREATE FUNCTION expose(p_contract text, p_run text, p_grant text, p_reserved numeric, p_spent numeric, p_now bigint) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  next text := p_grant;
BEGIN
  UPDATE contracts SET reserved = reserved + p_reserved, spent = spent + p_spent, last_now = p_now WHERE id = p_contract;
  UPDATE runs SET reserved = reserved + p_reserved, spent = spent + p_spent WHERE contract = p_contract AND id = p_run;
  WHILE next IS NOT NULL LOOP
    UPDATE grants SET reserved = reserved + p_reserved, spent = spent + p_spent
      WHERE contract = p_contract AND id = next RETURNING parent INTO next;
  END LOOP;
END $$;

CREATE FUNCTION record(p_contract text, p_principal text, p_command text, p_type text, p_now bigint, p_body text, p_hash bytea, p_code text, p_events jsonb)
  RETURNS text LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO decisions (contract, principal, command_id, type, at, body, body_hash, outcome, code, events)
    VALUES (p_contract, p_principal, p_command, p_type, p_now, p_body, p_hash,
      CASE WHEN p_code IS NULL THEN 'accepted' ELSE 'rejected' END, p_code, p_events);
  RETURN coalesce(p_code, 'accepted');
END $$;

CREATE FUNCTION admit(p_contract text, p_principal text, p_command text, p_run text, p_operation text, p_attempt text, p_grant text, p_subject text,
    p_approval text, p_action jsonb, p_amount numeric, p_checked bigint, p_policy text, p_checks_ok boolean, p_body text)
  RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  c contracts; r runs; g grants; a approvals;
  hash bytea := sha256(convert_to(p_body, 'UTF8'));
  print bytea := sha256(convert_to(p_action::text, 'UTF8'));
  earlier text := decided(p_contract, p_principal, p_command, hash);
  code text; at bigint;
BEGIN
  IF earlier IS NOT NULL THEN RETURN earlier; END IF;
  SELECT * INTO c FROM contracts WHERE id = p_contract FOR UPDATE;
  IF NOT FOUND THEN RETURN 'CONTRACT_NOT_FOUND'; END IF;
  at := greatest(c.last_now, now_ms());
  SELECT * INTO r FROM runs WHERE contract = p_contract AND id = p_run;
  SELECT * INTO g FROM grants WHERE contract = p_contract AND id = p_grant FOR UPDATE;
  code := CASE
    WHEN r.id IS NULL THEN 'RUN_NOT_FOUND'
    WHEN r.state <> 'RUNNING' THEN 'RUN_NOT_RUNNING'
    WHEN c.state <> 'OPEN' THEN 'MISSION_NOT_OPEN'
    WHEN at >= c.deadline THEN 'CONTRACT_EXPIRED'
    WHEN EXISTS (SELECT FROM operations o WHERE o.contract = p_contract AND o.id = p_operation) THEN 'OPERATION_EXISTS'
    WHEN EXISTS (SELECT FROM attempts t WHERE t.contract = p_contract AND t.id = p_attempt) THEN 'ATTEMPT_EXISTS' END;
  code := coalesce(code, authorized(c, at, p_checked, p_policy, p_checks_ok));
  IF code IS NULL THEN
    code := CASE
      WHEN NOT p_action->>'capability' = ANY (c.actions) THEN 'ACTION_NOT_ALLOWED'
      WHEN NOT p_action->>'resource' = ANY (c.resources) THEN 'RESOURCE_NOT_ALLOWED'
      WHEN EXISTS (SELECT FROM attempts t WHERE t.contract = p_contract AND t.run = p_run AND t.fingerprint = print
        AND t.state IN ('DISPATCHED', 'UNKNOWN')) THEN 'EFFECT_UNRESOLVED'
      WHEN g.id IS NULL THEN 'GRANT_NOT_FOUND'
      WHEN g.subject <> p_subject THEN 'GRANT_SUBJECT_MISMATCH'
      WHEN NOT p_action->>'capability' = ANY (g.actions) THEN 'ACTION_NOT_GRANTED'
      WHEN NOT p_action->>'resource' = ANY (g.resources) THEN 'RESOURCE_NOT_GRANTED'
      WHEN c.needs_approval AND p_approval IS NULL THEN 'APPROVAL_REQUIRED' END;
  END IF;
  IF code IS NULL AND p_approval IS NOT NULL THEN
    SELECT * INTO a FROM approvals WHERE contract = p_contract AND id = p_approval FOR UPDATE;
    code := CASE
      WHEN a.id IS NULL THEN 'APPROVAL_NOT_FOUND'
      WHEN a.run <> p_run THEN 'APPROVAL_RUN_MISMATCH'
      WHEN a.withdrawn THEN 'APPROVAL_WITHDRAWN'
      WHEN at >= a.expires_at THEN 'APPROVAL_EXPIRED'
      WHEN a.approver IN (p_subject, p_principal) THEN 'SELF_APPROVAL'
      WHEN a.fingerprint <> print THEN 'APPROVAL_FINGERPRINT_MISMATCH'
      WHEN a.used >= a.uses THEN 'APPROVAL_EXHAUSTED' END;
  END IF;
  IF code IS NULL AND c.spent + c.reserved + p_amount > c.budget THEN code := 'BUDGET_EXCEEDED'; END IF;
  code := coalesce(code, grant_chain(p_contract, p_grant, at, p_amount));
  IF code IS NOT NULL THEN
    UPDATE contracts SET last_now = at WHERE id = p_contract;
    RETURN record(p_contract, p_principal, p_command, 'admit', at, p_body, hash, code, NULL);
  END IF;
  UPDATE approvals SET used = used + 1 WHERE contract = p_contract AND id = p_approval;
  INSERT INTO operations VALUES (p_contract, p_operation, p_run, p_grant, p_subject, p_approval, p_action, print);
  INSERT INTO attempts VALUES (p_contract, p_attempt, p_operation, p_run, p_grant, print, 1, 'PREPARED', r.epoch, p_amount, p_amount);
  PERFORM expose(p_contract, p_run, p_grant, p_amount, 0, at);
  RETURN record(p_contract, p_principal, p_command, 'admit', at, p_body, hash, NULL, jsonb_build_array(
    jsonb_build_object('type', 'operationAdmitted', 'runId', p_run, 'operationId', p_operation, 'grantId', p_grant, 'subject', p_subject,
      'action', p_action, 'fingerprint', encode(print, 'hex'), 'by', p_principal),
    jsonb_build_object('type', 'attemptPrepared', 'runId', p_run, 'operationId', p_operation, 'attemptId', p_attempt, 'number', 1,
      'amount', p_amount::text, 'epoch', r.epoch, 'by', p_principal)));
END $$;

CREATE FUNCTION dispatch(p_contract text, p_principal text, p_command text, p_attempt text, p_checked bigint, p_policy text, p_checks_ok boolean, p_body text)
  RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  c contracts; r runs; t attempts;
  hash bytea := sha256(convert_to(p_body, 'UTF8'));
  earlier text := decided(p_contract, p_principal, p_command, hash);
  code text; at bigint;
BEGIN
  IF earlier IS NOT NULL THEN RETURN earlier; END IF;
  SELECT * INTO c FROM contracts WHERE id = p_contract FOR UPDATE;
  IF NOT FOUND THEN RETURN 'CONTRACT_NOT_FOUND'; END IF;
  at := greatest(c.last_now, now_ms());
  SELECT * INTO t FROM attempts WHERE contract = p_contract AND id = p_attempt;
  SELECT * INTO r FROM runs WHERE contract = p_contract AND id = t.run;
  code := CASE
    WHEN t.id IS NULL THEN 'ATTEMPT_NOT_FOUND'
    WHEN t.state <> 'PREPARED' THEN 'ATTEMPT_NOT_PREPARED'
    WHEN r.state <> 'RUNNING' THEN 'RUN_NOT_RUNNING'
    WHEN c.state <> 'OPEN' THEN 'MISSION_NOT_OPEN'
    WHEN at >= c.deadline THEN 'CONTRACT_EXPIRED'
    WHEN t.epoch <> r.epoch THEN 'EPOCH_STALE' END;
  code := coalesce(code, authorized(c, at, p_checked, p_policy, p_checks_ok), grant_chain(p_contract, t.grant_id, at, 0));
  IF code IS NULL THEN
    code := CASE
      WHEN EXISTS (SELECT FROM attempts o WHERE o.contract = p_contract AND o.run = t.run AND o.fingerprint = t.fingerprint
        AND o.state IN ('DISPATCHED', 'UNKNOWN') AND o.operation <> t.operation) THEN 'EFFECT_UNRESOLVED'
      WHEN c.spent + c.reserved > c.budget THEN 'BUDGET_EXCEEDED' END;
  END IF;
  UPDATE contracts SET last_now = at WHERE id = p_contract;
  IF code IS NOT NULL THEN
    RETURN record(p_contract, p_principal, p_command, 'dispatch', at, p_body, hash, code, NULL);
  END IF;
  UPDATE attempts SET state = 'DISPATCHED' WHERE contract = p_contract AND id = p_attempt;
  RETURN record(p_contract, p_principal, p_command, 'dispatch', at, p_body, hash, NULL, jsonb_build_array(
    jsonb_build_object('type', 'attemptDispatched', 'attemptId', p_attempt, 'by', p_principal)));
END $$;

CREATE FUNCTION settle(p_contract text, p_principal text, p_command text, p_attempt text, p_effect text, p_cost numeric, p_body text)
  RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  c contracts; t attempts;
  hash bytea := sha256(convert_to(p_body, 'UTF8'));
  earlier text := decided(p_contract, p_principal, p_command, hash);
  code text; at bigint; held numeric;
BEGIN
  IF earlier IS NOT NULL THEN RETURN earlier; END IF;
  SELECT * INTO c FROM contracts WHERE id = p_contract FOR UPDATE;
  IF NOT FOUND THEN RETURN 'CONTRACT_NOT_FOUND'; END IF;
  at := greatest(c.last_now, now_ms());
  SELECT * INTO t FROM attempts WHERE contract = p_contract AND id = p_attempt;
  code := CASE
    WHEN t.id IS NULL THEN 'ATTEMPT_NOT_FOUND'
    WHEN t.state = 'PREPARED' THEN 'ATTEMPT_NOT_DISPATCHED'
    WHEN t.state NOT IN ('DISPATCHED', 'UNKNOWN') THEN 'ATTEMPT_SETTLED' END;
  IF code IS NOT NULL THEN
    UPDATE contracts SET last_now = at WHERE id = p_contract;
    RETURN record(p_contract, p_principal, p_command, 'settle', at, p_body, hash, code, NULL);
  END IF;
  IF p_effect = 'UNKNOWN' THEN
    held := greatest(t.reserved, p_cost);
    UPDATE attempts SET state = 'UNKNOWN', reserved = held WHERE contract = p_contract AND id = p_attempt;
    PERFORM expose(p_contract, t.run, t.grant_id, held - t.reserved, 0, at);
  ELSE
    held := 0;
    UPDATE attempts SET state = CASE p_effect WHEN 'CONFIRMED_APPLIED' THEN 'APPLIED' ELSE 'NOT_APPLIED' END, reserved = 0, spent = p_cost
      WHERE contract = p_contract AND id = p_attempt;
    PERFORM expose(p_contract, t.run, t.grant_id, -t.reserved, p_cost, at);
  END IF;
  RETURN record(p_contract, p_principal, p_command, 'settle', at, p_body, hash, NULL, jsonb_build_array(
    jsonb_build_object('type', 'attemptSettled', 'attemptId', p_attempt, 'effect', p_effect, 'actualCost', p_cost::text,
      'released', (t.reserved - held)::text, 'overrun', greatest(0, p_cost - t.amount)::text, 'by', p_principal)));
END $$;
