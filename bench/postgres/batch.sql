\set ledger random(1, 1000)
\set n random(1, 9000000000000000000)
SELECT admit_batch('ledger-' || :ledger, 'agent', 'run-' || :client_id, 'team', 'agent',
  '{"capability":"purchase","payload":{"basket":[{"count":4,"item":"desk","unitPrice":"30"},{"count":2,"item":"lamp","unitPrice":"17"}],"deliverTo":{"city":"Utrecht","street":"Oudegracht 1","zip":"3511"},"note":"@NOTE@","operation":"$"},"preconditions":{"stock":"known"},"resource":"shop"}',
  120, 1700000000000, 'ALLOW', true, '@ADMIT@', ARRAY(SELECT 'o' || :n || '-' || i FROM generate_series(1, @SIZE@) i));
SELECT dispatch_batch('ledger-' || :ledger, 'agent', 'run-' || :client_id, 'team', 1700000000000, 'ALLOW', true, '@DISPATCH@',
  ARRAY(SELECT 'o' || :n || '-' || i FROM generate_series(1, @SIZE@) i));
SELECT settle_batch('ledger-' || :ledger, 'shop-adapter', 'run-' || :client_id, 'team', 120, '@SETTLE@',
  ARRAY(SELECT 'o' || :n || '-' || i FROM generate_series(1, @SIZE@) i));
