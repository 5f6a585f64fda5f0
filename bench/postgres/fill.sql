-- A thousand ledgers with a grant, and a run for each of the connections.
INSERT INTO contracts (id, budget, deadline, actions, resources, max_attempts, max_auth_age_ms)
  SELECT 'ledger-' || i, 1e30, 4102444800000, '{purchase,refund,read}', '{shop,bank,warehouse}', 3, 4102444800000 FROM generate_series(1, 1000) i;
INSERT INTO grants (contract, id, subject, actions, resources, not_before, expires_at, "limit")
  SELECT 'ledger-' || i, 'team', 'agent', '{purchase,read}', '{shop,warehouse}', 0, 4102444800000, 1e29 FROM generate_series(1, 1000) i;
INSERT INTO runs (contract, id, state)
  SELECT 'ledger-' || i, 'run-' || k, 'RUNNING' FROM generate_series(1, 1000) i, generate_series(0, 31) k;
VACUUM ANALYZE;
