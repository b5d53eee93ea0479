CREATE TABLE public.audit (
    number bigint NOT NULL,
    revision bigint NOT NULL,
    at_ms bigint NOT NULL,
    actor text NOT NULL,
    action text NOT NULL,
    org_id text NOT NULL COLLATE pg_catalog."C",
    detail text NOT NULL,
    request text NOT NULL,
    who text NOT NULL COLLATE pg_catalog."C",
    method text NOT NULL,
    path text NOT NULL COLLATE pg_catalog."C",
    ip text NOT NULL,
    status integer NOT NULL
);
CREATE TABLE public.audit_change (
    audit bigint NOT NULL,
    place integer NOT NULL,
    kind text NOT NULL COLLATE pg_catalog."C",
    id text NOT NULL COLLATE pg_catalog."C",
    bodies bytea NOT NULL
);
CREATE TABLE public.declaration (
    number integer NOT NULL,
    hash text NOT NULL
);
CREATE TABLE public.delivery (
    id bigint NOT NULL,
    dead boolean NOT NULL,
    queue text NOT NULL COLLATE pg_catalog."C",
    next_at bigint NOT NULL,
    attempts integer NOT NULL,
    created_at bigint NOT NULL,
    error text NOT NULL,
    sealed bytea NOT NULL
);
CREATE TABLE public.document (
    kind text NOT NULL COLLATE pg_catalog."C",
    id text NOT NULL COLLATE pg_catalog."C",
    revision bigint NOT NULL,
    filed integer NOT NULL,
    body text NOT NULL
);
CREATE TABLE public.document_index (
    kind text NOT NULL COLLATE pg_catalog."C",
    name text NOT NULL COLLATE pg_catalog."C",
    value text NOT NULL COLLATE pg_catalog."C",
    id text NOT NULL COLLATE pg_catalog."C",
    uniq boolean NOT NULL,
    whole text
);
CREATE TABLE public.feed (
    upto bigint NOT NULL,
    first bigint NOT NULL,
    writer text NOT NULL,
    at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    events text NOT NULL
);
CREATE TABLE public.gatehouse_version (
    version integer NOT NULL,
    needs integer NOT NULL,
    at timestamp with time zone DEFAULT now() NOT NULL
);
CREATE TABLE public.hit (
    hour bigint NOT NULL,
    dimension bigint NOT NULL,
    status integer NOT NULL,
    count bigint NOT NULL,
    success bigint NOT NULL,
    error bigint NOT NULL,
    last_at bigint NOT NULL,
    t_sum double precision NOT NULL,
    t_min double precision NOT NULL,
    t_max double precision NOT NULL,
    t0 bigint NOT NULL,
    t1 bigint NOT NULL,
    t2 bigint NOT NULL,
    t3 bigint NOT NULL,
    t4 bigint NOT NULL,
    t5 bigint NOT NULL,
    t6 bigint NOT NULL,
    t7 bigint NOT NULL,
    t8 bigint NOT NULL,
    t9 bigint NOT NULL,
    t10 bigint NOT NULL,
    t11 bigint NOT NULL,
    t12 bigint NOT NULL,
    t13 bigint NOT NULL,
    u_sum double precision NOT NULL,
    u_min double precision NOT NULL,
    u_max double precision NOT NULL,
    u0 bigint NOT NULL,
    u1 bigint NOT NULL,
    u2 bigint NOT NULL,
    u3 bigint NOT NULL,
    u4 bigint NOT NULL,
    u5 bigint NOT NULL,
    u6 bigint NOT NULL,
    u7 bigint NOT NULL,
    u8 bigint NOT NULL,
    u9 bigint NOT NULL,
    u10 bigint NOT NULL,
    u11 bigint NOT NULL,
    u12 bigint NOT NULL,
    u13 bigint NOT NULL
)
PARTITION BY RANGE (hour);
CREATE TABLE public.hit_2023_11 (
    hour bigint NOT NULL,
    dimension bigint NOT NULL,
    status integer NOT NULL,
    count bigint NOT NULL,
    success bigint NOT NULL,
    error bigint NOT NULL,
    last_at bigint NOT NULL,
    t_sum double precision NOT NULL,
    t_min double precision NOT NULL,
    t_max double precision NOT NULL,
    t0 bigint NOT NULL,
    t1 bigint NOT NULL,
    t2 bigint NOT NULL,
    t3 bigint NOT NULL,
    t4 bigint NOT NULL,
    t5 bigint NOT NULL,
    t6 bigint NOT NULL,
    t7 bigint NOT NULL,
    t8 bigint NOT NULL,
    t9 bigint NOT NULL,
    t10 bigint NOT NULL,
    t11 bigint NOT NULL,
    t12 bigint NOT NULL,
    t13 bigint NOT NULL,
    u_sum double precision NOT NULL,
    u_min double precision NOT NULL,
    u_max double precision NOT NULL,
    u0 bigint NOT NULL,
    u1 bigint NOT NULL,
    u2 bigint NOT NULL,
    u3 bigint NOT NULL,
    u4 bigint NOT NULL,
    u5 bigint NOT NULL,
    u6 bigint NOT NULL,
    u7 bigint NOT NULL,
    u8 bigint NOT NULL,
    u9 bigint NOT NULL,
    u10 bigint NOT NULL,
    u11 bigint NOT NULL,
    u12 bigint NOT NULL,
    u13 bigint NOT NULL
)
WITH (fillfactor='70');
CREATE TABLE public.hit_api (
    hour bigint NOT NULL,
    dimension bigint NOT NULL,
    status integer NOT NULL,
    count bigint NOT NULL,
    success bigint NOT NULL,
    error bigint NOT NULL,
    last_at bigint NOT NULL,
    t_sum double precision NOT NULL,
    t_min double precision NOT NULL,
    t_max double precision NOT NULL,
    t0 bigint NOT NULL,
    t1 bigint NOT NULL,
    t2 bigint NOT NULL,
    t3 bigint NOT NULL,
    t4 bigint NOT NULL,
    t5 bigint NOT NULL,
    t6 bigint NOT NULL,
    t7 bigint NOT NULL,
    t8 bigint NOT NULL,
    t9 bigint NOT NULL,
    t10 bigint NOT NULL,
    t11 bigint NOT NULL,
    t12 bigint NOT NULL,
    t13 bigint NOT NULL,
    u_sum double precision NOT NULL,
    u_min double precision NOT NULL,
    u_max double precision NOT NULL,
    u0 bigint NOT NULL,
    u1 bigint NOT NULL,
    u2 bigint NOT NULL,
    u3 bigint NOT NULL,
    u4 bigint NOT NULL,
    u5 bigint NOT NULL,
    u6 bigint NOT NULL,
    u7 bigint NOT NULL,
    u8 bigint NOT NULL,
    u9 bigint NOT NULL,
    u10 bigint NOT NULL,
    u11 bigint NOT NULL,
    u12 bigint NOT NULL,
    u13 bigint NOT NULL
)
PARTITION BY RANGE (hour);
CREATE TABLE public.hit_api_2023_11 (
    hour bigint NOT NULL,
    dimension bigint NOT NULL,
    status integer NOT NULL,
    count bigint NOT NULL,
    success bigint NOT NULL,
    error bigint NOT NULL,
    last_at bigint NOT NULL,
    t_sum double precision NOT NULL,
    t_min double precision NOT NULL,
    t_max double precision NOT NULL,
    t0 bigint NOT NULL,
    t1 bigint NOT NULL,
    t2 bigint NOT NULL,
    t3 bigint NOT NULL,
    t4 bigint NOT NULL,
    t5 bigint NOT NULL,
    t6 bigint NOT NULL,
    t7 bigint NOT NULL,
    t8 bigint NOT NULL,
    t9 bigint NOT NULL,
    t10 bigint NOT NULL,
    t11 bigint NOT NULL,
    t12 bigint NOT NULL,
    t13 bigint NOT NULL,
    u_sum double precision NOT NULL,
    u_min double precision NOT NULL,
    u_max double precision NOT NULL,
    u0 bigint NOT NULL,
    u1 bigint NOT NULL,
    u2 bigint NOT NULL,
    u3 bigint NOT NULL,
    u4 bigint NOT NULL,
    u5 bigint NOT NULL,
    u6 bigint NOT NULL,
    u7 bigint NOT NULL,
    u8 bigint NOT NULL,
    u9 bigint NOT NULL,
    u10 bigint NOT NULL,
    u11 bigint NOT NULL,
    u12 bigint NOT NULL,
    u13 bigint NOT NULL
)
WITH (fillfactor='70');
CREATE TABLE public.hit_api_day (
    day bigint NOT NULL,
    dimension bigint NOT NULL,
    status integer NOT NULL,
    count bigint NOT NULL,
    success bigint NOT NULL,
    error bigint NOT NULL,
    last_at bigint NOT NULL,
    t_sum double precision NOT NULL,
    t_min double precision NOT NULL,
    t_max double precision NOT NULL,
    t0 bigint NOT NULL,
    t1 bigint NOT NULL,
    t2 bigint NOT NULL,
    t3 bigint NOT NULL,
    t4 bigint NOT NULL,
    t5 bigint NOT NULL,
    t6 bigint NOT NULL,
    t7 bigint NOT NULL,
    t8 bigint NOT NULL,
    t9 bigint NOT NULL,
    t10 bigint NOT NULL,
    t11 bigint NOT NULL,
    t12 bigint NOT NULL,
    t13 bigint NOT NULL,
    u_sum double precision NOT NULL,
    u_min double precision NOT NULL,
    u_max double precision NOT NULL,
    u0 bigint NOT NULL,
    u1 bigint NOT NULL,
    u2 bigint NOT NULL,
    u3 bigint NOT NULL,
    u4 bigint NOT NULL,
    u5 bigint NOT NULL,
    u6 bigint NOT NULL,
    u7 bigint NOT NULL,
    u8 bigint NOT NULL,
    u9 bigint NOT NULL,
    u10 bigint NOT NULL,
    u11 bigint NOT NULL,
    u12 bigint NOT NULL,
    u13 bigint NOT NULL
)
PARTITION BY RANGE (day);
CREATE TABLE public.hit_api_day_2023_11 (
    day bigint NOT NULL,
    dimension bigint NOT NULL,
    status integer NOT NULL,
    count bigint NOT NULL,
    success bigint NOT NULL,
    error bigint NOT NULL,
    last_at bigint NOT NULL,
    t_sum double precision NOT NULL,
    t_min double precision NOT NULL,
    t_max double precision NOT NULL,
    t0 bigint NOT NULL,
    t1 bigint NOT NULL,
    t2 bigint NOT NULL,
    t3 bigint NOT NULL,
    t4 bigint NOT NULL,
    t5 bigint NOT NULL,
    t6 bigint NOT NULL,
    t7 bigint NOT NULL,
    t8 bigint NOT NULL,
    t9 bigint NOT NULL,
    t10 bigint NOT NULL,
    t11 bigint NOT NULL,
    t12 bigint NOT NULL,
    t13 bigint NOT NULL,
    u_sum double precision NOT NULL,
    u_min double precision NOT NULL,
    u_max double precision NOT NULL,
    u0 bigint NOT NULL,
    u1 bigint NOT NULL,
    u2 bigint NOT NULL,
    u3 bigint NOT NULL,
    u4 bigint NOT NULL,
    u5 bigint NOT NULL,
    u6 bigint NOT NULL,
    u7 bigint NOT NULL,
    u8 bigint NOT NULL,
    u9 bigint NOT NULL,
    u10 bigint NOT NULL,
    u11 bigint NOT NULL,
    u12 bigint NOT NULL,
    u13 bigint NOT NULL
)
WITH (fillfactor='70');
CREATE TABLE public.hit_day (
    day bigint NOT NULL,
    dimension bigint NOT NULL,
    status integer NOT NULL,
    count bigint NOT NULL,
    success bigint NOT NULL,
    error bigint NOT NULL,
    last_at bigint NOT NULL,
    t_sum double precision NOT NULL,
    t_min double precision NOT NULL,
    t_max double precision NOT NULL,
    t0 bigint NOT NULL,
    t1 bigint NOT NULL,
    t2 bigint NOT NULL,
    t3 bigint NOT NULL,
    t4 bigint NOT NULL,
    t5 bigint NOT NULL,
    t6 bigint NOT NULL,
    t7 bigint NOT NULL,
    t8 bigint NOT NULL,
    t9 bigint NOT NULL,
    t10 bigint NOT NULL,
    t11 bigint NOT NULL,
    t12 bigint NOT NULL,
    t13 bigint NOT NULL,
    u_sum double precision NOT NULL,
    u_min double precision NOT NULL,
    u_max double precision NOT NULL,
    u0 bigint NOT NULL,
    u1 bigint NOT NULL,
    u2 bigint NOT NULL,
    u3 bigint NOT NULL,
    u4 bigint NOT NULL,
    u5 bigint NOT NULL,
    u6 bigint NOT NULL,
    u7 bigint NOT NULL,
    u8 bigint NOT NULL,
    u9 bigint NOT NULL,
    u10 bigint NOT NULL,
    u11 bigint NOT NULL,
    u12 bigint NOT NULL,
    u13 bigint NOT NULL
)
PARTITION BY RANGE (day);
CREATE TABLE public.hit_day_2023_11 (
    day bigint NOT NULL,
    dimension bigint NOT NULL,
    status integer NOT NULL,
    count bigint NOT NULL,
    success bigint NOT NULL,
    error bigint NOT NULL,
    last_at bigint NOT NULL,
    t_sum double precision NOT NULL,
    t_min double precision NOT NULL,
    t_max double precision NOT NULL,
    t0 bigint NOT NULL,
    t1 bigint NOT NULL,
    t2 bigint NOT NULL,
    t3 bigint NOT NULL,
    t4 bigint NOT NULL,
    t5 bigint NOT NULL,
    t6 bigint NOT NULL,
    t7 bigint NOT NULL,
    t8 bigint NOT NULL,
    t9 bigint NOT NULL,
    t10 bigint NOT NULL,
    t11 bigint NOT NULL,
    t12 bigint NOT NULL,
    t13 bigint NOT NULL,
    u_sum double precision NOT NULL,
    u_min double precision NOT NULL,
    u_max double precision NOT NULL,
    u0 bigint NOT NULL,
    u1 bigint NOT NULL,
    u2 bigint NOT NULL,
    u3 bigint NOT NULL,
    u4 bigint NOT NULL,
    u5 bigint NOT NULL,
    u6 bigint NOT NULL,
    u7 bigint NOT NULL,
    u8 bigint NOT NULL,
    u9 bigint NOT NULL,
    u10 bigint NOT NULL,
    u11 bigint NOT NULL,
    u12 bigint NOT NULL,
    u13 bigint NOT NULL
)
WITH (fillfactor='70');
CREATE TABLE public.hit_dimension (
    number bigint NOT NULL,
    hash bytea NOT NULL,
    org_id text NOT NULL COLLATE pg_catalog."C",
    api_id text NOT NULL COLLATE pg_catalog."C",
    version text NOT NULL COLLATE pg_catalog."C",
    key_hash text NOT NULL COLLATE pg_catalog."C",
    alias text NOT NULL COLLATE pg_catalog."C",
    client_id text NOT NULL COLLATE pg_catalog."C",
    tags text NOT NULL COLLATE pg_catalog."C",
    endpoint text NOT NULL COLLATE pg_catalog."C",
    country text NOT NULL COLLATE pg_catalog."C"
);
ALTER TABLE public.hit_dimension ALTER COLUMN number ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.hit_dimension_number_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    MAXVALUE 4294967295
    CACHE 1
);
CREATE TABLE public.hit_dimension_use (
    dimension bigint NOT NULL,
    coarse bigint NOT NULL,
    last_day integer NOT NULL
);
CREATE TABLE public.hit_journal (
    "row" bigint NOT NULL,
    at timestamp with time zone DEFAULT now() NOT NULL,
    hour bigint NOT NULL,
    samples bytea NOT NULL,
    CONSTRAINT hit_journal_samples_check CHECK (((length(samples) % 16) = 0))
);
ALTER TABLE ONLY public.hit_journal ALTER COLUMN samples SET STORAGE EXTERNAL;
ALTER TABLE public.hit_journal ALTER COLUMN "row" ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.hit_journal_row_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE public.hit_minute (
    minute bigint NOT NULL,
    dimension bigint NOT NULL,
    status integer NOT NULL,
    count bigint NOT NULL,
    success bigint NOT NULL,
    error bigint NOT NULL,
    last_at bigint NOT NULL,
    t_sum double precision NOT NULL,
    t_min double precision NOT NULL,
    t_max double precision NOT NULL,
    t0 bigint NOT NULL,
    t1 bigint NOT NULL,
    t2 bigint NOT NULL,
    t3 bigint NOT NULL,
    t4 bigint NOT NULL,
    t5 bigint NOT NULL,
    t6 bigint NOT NULL,
    t7 bigint NOT NULL,
    t8 bigint NOT NULL,
    t9 bigint NOT NULL,
    t10 bigint NOT NULL,
    t11 bigint NOT NULL,
    t12 bigint NOT NULL,
    t13 bigint NOT NULL,
    u_sum double precision NOT NULL,
    u_min double precision NOT NULL,
    u_max double precision NOT NULL,
    u0 bigint NOT NULL,
    u1 bigint NOT NULL,
    u2 bigint NOT NULL,
    u3 bigint NOT NULL,
    u4 bigint NOT NULL,
    u5 bigint NOT NULL,
    u6 bigint NOT NULL,
    u7 bigint NOT NULL,
    u8 bigint NOT NULL,
    u9 bigint NOT NULL,
    u10 bigint NOT NULL,
    u11 bigint NOT NULL,
    u12 bigint NOT NULL,
    u13 bigint NOT NULL
)
WITH (fillfactor='70');
CREATE TABLE public.hit_minute_state (
    one integer NOT NULL,
    from_minute bigint NOT NULL,
    CONSTRAINT hit_minute_state_one_check CHECK ((one = 1))
);
CREATE TABLE public.hit_source (
    source text NOT NULL COLLATE pg_catalog."C",
    number bigint NOT NULL,
    at timestamp with time zone DEFAULT now() NOT NULL
)
WITH (fillfactor='50');
CREATE TABLE public.record (
    number bigint NOT NULL,
    at_ms bigint NOT NULL,
    org_id text NOT NULL COLLATE pg_catalog."C",
    api_id text NOT NULL COLLATE pg_catalog."C",
    status integer NOT NULL,
    method text NOT NULL COLLATE pg_catalog."C",
    key_hash text NOT NULL COLLATE pg_catalog."C",
    client_id text NOT NULL COLLATE pg_catalog."C",
    tags text NOT NULL COLLATE pg_catalog."C",
    path text NOT NULL COLLATE pg_catalog."C",
    fields text NOT NULL,
    request bytea,
    response bytea,
    request_id text DEFAULT ''::text NOT NULL COLLATE pg_catalog."C"
)
PARTITION BY RANGE (at_ms);
CREATE TABLE public.record_2023_11 (
    number bigint NOT NULL,
    at_ms bigint NOT NULL,
    org_id text NOT NULL COLLATE pg_catalog."C",
    api_id text NOT NULL COLLATE pg_catalog."C",
    status integer NOT NULL,
    method text NOT NULL COLLATE pg_catalog."C",
    key_hash text NOT NULL COLLATE pg_catalog."C",
    client_id text NOT NULL COLLATE pg_catalog."C",
    tags text NOT NULL COLLATE pg_catalog."C",
    path text NOT NULL COLLATE pg_catalog."C",
    fields text NOT NULL,
    request bytea,
    response bytea,
    request_id text DEFAULT ''::text NOT NULL COLLATE pg_catalog."C"
)
WITH (fillfactor='100');
CREATE TABLE public.record_dropped (
    minute bigint NOT NULL,
    org_id text NOT NULL COLLATE pg_catalog."C",
    api_id text NOT NULL COLLATE pg_catalog."C",
    count bigint NOT NULL
);
CREATE SEQUENCE public.record_number
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;
CREATE TABLE public.session (
    number bigint NOT NULL,
    hash bytea NOT NULL,
    org_id text NOT NULL,
    client_id text NOT NULL,
    links text NOT NULL,
    evict_at bigint NOT NULL,
    sealed_key bytea NOT NULL,
    family text NOT NULL COLLATE pg_catalog."C",
    body text NOT NULL,
    CONSTRAINT session_hash_check CHECK ((length(hash) = 32))
);
CREATE TABLE public.session_alias (
    session bigint NOT NULL,
    alias text NOT NULL COLLATE pg_catalog."C"
);
CREATE TABLE public.session_ref (
    sort smallint NOT NULL,
    value text NOT NULL COLLATE pg_catalog."C",
    session bigint NOT NULL
);
CREATE TABLE public.store_state (
    one integer NOT NULL,
    revision bigint NOT NULL,
    last_session bigint NOT NULL,
    last_delivery bigint NOT NULL,
    last_audit bigint NOT NULL,
    needs integer NOT NULL,
    CONSTRAINT store_state_one_check CHECK ((one = 1))
)
WITH (fillfactor='10');
CREATE TABLE public.ticket (
    hash bytea NOT NULL,
    sort text NOT NULL,
    api_id text NOT NULL,
    client_id text NOT NULL,
    family text NOT NULL COLLATE pg_catalog."C",
    expires_at bigint NOT NULL,
    keep_until bigint NOT NULL,
    version bigint NOT NULL,
    claimed_at bigint NOT NULL,
    body text NOT NULL,
    CONSTRAINT ticket_hash_check CHECK ((length(hash) = 32))
)
WITH (fillfactor='80');
ALTER TABLE ONLY public.hit ATTACH PARTITION public.hit_2023_11 FOR VALUES FROM ('471888') TO ('472608');
ALTER TABLE ONLY public.hit_api ATTACH PARTITION public.hit_api_2023_11 FOR VALUES FROM ('471888') TO ('472608');
ALTER TABLE ONLY public.hit_api_day ATTACH PARTITION public.hit_api_day_2023_11 FOR VALUES FROM ('19662') TO ('19692');
ALTER TABLE ONLY public.hit_day ATTACH PARTITION public.hit_day_2023_11 FOR VALUES FROM ('19662') TO ('19692');
ALTER TABLE ONLY public.record ATTACH PARTITION public.record_2023_11 FOR VALUES FROM ('1698796800000') TO ('1701388800000');
INSERT INTO public.audit VALUES (1, 1, 1700000000000, 'Ann', 'api.create', 'o', '{"api_id":"a"}', '', 'ann', '', '', '', 0);
INSERT INTO public.audit_change VALUES (1, 0, 'api', '00000000000000000000000a', '\x005b6e756c6c2c7b226170695f6964223a2261222c226f72675f6964223a226f222c226e616d65223a22c38472676572227d2c6e756c6c5d');
INSERT INTO public.declaration VALUES (1, 'b712c60a06294ce3603764a8bf8e39e114a3f0d33984b278173b121f6220c01c');
INSERT INTO public.delivery VALUES (1, false, 'a', 0, 0, 1700000000000, '', '\x6d657373616765');
INSERT INTO public.document VALUES ('api', '00000000000000000000000a', 1, 1, '{"api_id":"a","org_id":"o","name":"Ärger"}');
INSERT INTO public.document_index VALUES ('api', 'api_id', 'a', '00000000000000000000000a', true, NULL);
INSERT INTO public.document_index VALUES ('api', 'org_id', 'o', '00000000000000000000000a', false, NULL);
INSERT INTO public.document_index VALUES ('api', 'standing', 'base', '00000000000000000000000a', false, NULL);
INSERT INTO public.document_index VALUES ('api', 'owner', '*', '00000000000000000000000a', false, NULL);
INSERT INTO public.document_index VALUES ('api', 'active', 'false', '00000000000000000000000a', false, NULL);
INSERT INTO public.document_index VALUES ('api', 'name', 'Ärger', '00000000000000000000000a', false, NULL);
INSERT INTO public.document_index VALUES ('api', 'name_folded', 'ärger', '00000000000000000000000a', false, NULL);
INSERT INTO public.document_index VALUES ('api', 'created_at', '', '00000000000000000000000a', false, NULL);
INSERT INTO public.document_index VALUES ('api', 'updated_at', '', '00000000000000000000000a', false, NULL);
INSERT INTO public.feed VALUES (1, 1, 'aa8fb2e9-cec9-4bed-9720-80f16a6ea320', '2026-11-27 20:59:18.890746+00', '[[[["put","api","00000000000000000000000a"]],""]]');
INSERT INTO public.feed VALUES (2, 2, '77eb6fb5-d369-4bbf-a7f7-1d2a65817473', '2026-11-27 20:59:18.901868+00', '[[[],"LHDhK3oGRvkiefQnx7OOczTY5Tic/xZ6HcMOc/gmtoM8Rp6dbFh103pD81PU+I5h/PgSxm7uNFdGWkCw2kFT4A=="]]');
INSERT INTO public.gatehouse_version VALUES (1, 1, '2026-11-27 20:59:18.567515+00');
INSERT INTO public.gatehouse_version VALUES (2, 1, '2026-11-27 20:59:18.567515+00');
INSERT INTO public.gatehouse_version VALUES (3, 1, '2026-11-27 20:59:18.567515+00');
INSERT INTO public.gatehouse_version VALUES (4, 1, '2026-11-27 20:59:18.567515+00');
INSERT INTO public.gatehouse_version VALUES (5, 1, '2026-11-27 20:59:18.567515+00');
INSERT INTO public.hit_2023_11 VALUES (472222, 1, 200, 7, 7, 0, 1700000000000, 0, 9.007199254740991e+15, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 9.007199254740991e+15, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);
INSERT INTO public.hit_api_2023_11 VALUES (472222, 2, 200, 7, 7, 0, 1700000000000, 0, 9.007199254740991e+15, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 9.007199254740991e+15, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);
INSERT INTO public.hit_api_day_2023_11 VALUES (19675, 2, 200, 7, 7, 0, 1700000000000, 0, 9.007199254740991e+15, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 9.007199254740991e+15, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);
INSERT INTO public.hit_day_2023_11 VALUES (19675, 1, 200, 7, 7, 0, 1700000000000, 0, 9.007199254740991e+15, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 9.007199254740991e+15, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);
INSERT INTO public.hit_dimension OVERRIDING SYSTEM VALUE VALUES (1, '\xb3441fbd801312c69ed002edf365a6e9d368b0cfc0999c7018a4d04d67e07790', 'o', 'a', '', 'k', '', '', '', '', '');
INSERT INTO public.hit_dimension OVERRIDING SYSTEM VALUE VALUES (2, '\x716e40b4b52daf186b99224fcbdffefb0777c9d150cf76f97251af7ec30e2410', 'o', 'a', '', '', '', '', '', '', '');
INSERT INTO public.hit_dimension_use VALUES (1, 2, 20784);
INSERT INTO public.hit_dimension_use VALUES (2, 2, 20784);
INSERT INTO public.hit_minute VALUES (28333333, 2, 200, 7, 7, 0, 1700000000000, 0, 9.007199254740991e+15, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 9.007199254740991e+15, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);
INSERT INTO public.hit_minute_state VALUES (1, 0);
INSERT INTO public.record_2023_11 VALUES (1, 1700000000000, 'o', 'a', 404, 'GET', 'k', '', ',x,y,', '/ä', '{"host":"h"}', '\x474554', '\x343034', 'of-the-record');
INSERT INTO public.session VALUES (1, '\x2c70e12b7a0646f92279f427c7b38e7334d8e5389cff167a1dc30e73f826b683', 'o', '', '[["a"],["p"]]', 0, '\x7365616c6564', '', '{"alias":"Straße","rate":7}');
INSERT INTO public.session VALUES (2, '\x3c469e9d6c5875d37a43f353d4f88e61fcf812c66eee3457465a40b0da4153e0', 'o', 'c', '[["a"],[]]', 4000000000000, '\x', 'f', '{"alias":""}');
INSERT INTO public.session_alias VALUES (1, 'strasse');
INSERT INTO public.session_ref VALUES (1, 'o', 1);
INSERT INTO public.session_ref VALUES (5, '', 1);
INSERT INTO public.session_ref VALUES (5, '=o', 1);
INSERT INTO public.session_ref VALUES (2, 'a', 1);
INSERT INTO public.session_ref VALUES (3, 'p', 1);
INSERT INTO public.session_ref VALUES (1, 'o', 2);
INSERT INTO public.session_ref VALUES (4, 'c', 2);
INSERT INTO public.session_ref VALUES (2, 'a', 2);
INSERT INTO public.store_state VALUES (1, 2, 2, 1, 1, 1);
INSERT INTO public.ticket VALUES ('\xd6cc0a088c07683c65cd266860cab8d94b3a1937b17420d9da30ca299c09fb77', 'refresh', 'a', 'c', 'f', 4000000000000, 4000000000000, 1, 0, '{"n":1}');
SELECT pg_catalog.setval('public.hit_dimension_number_seq', 2, true);
SELECT pg_catalog.setval('public.hit_journal_row_seq', 1, false);
SELECT pg_catalog.setval('public.record_number', 1, true);
ALTER TABLE ONLY public.audit_change
    ADD CONSTRAINT audit_change_pkey PRIMARY KEY (audit, place);
ALTER TABLE ONLY public.audit
    ADD CONSTRAINT audit_pkey PRIMARY KEY (number);
ALTER TABLE ONLY public.declaration
    ADD CONSTRAINT declaration_hash_key UNIQUE (hash);
ALTER TABLE ONLY public.declaration
    ADD CONSTRAINT declaration_pkey PRIMARY KEY (number);
ALTER TABLE ONLY public.delivery
    ADD CONSTRAINT delivery_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.document
    ADD CONSTRAINT document_pkey PRIMARY KEY (kind, id);
ALTER TABLE ONLY public.feed
    ADD CONSTRAINT feed_pkey PRIMARY KEY (upto);
ALTER TABLE ONLY public.gatehouse_version
    ADD CONSTRAINT gatehouse_version_pkey PRIMARY KEY (version);
ALTER TABLE ONLY public.hit
    ADD CONSTRAINT hit_pkey PRIMARY KEY (dimension, hour, status);
ALTER TABLE ONLY public.hit_2023_11
    ADD CONSTRAINT hit_2023_11_pkey PRIMARY KEY (dimension, hour, status);
ALTER TABLE ONLY public.hit_api
    ADD CONSTRAINT hit_api_pkey PRIMARY KEY (dimension, hour, status);
ALTER TABLE ONLY public.hit_api_2023_11
    ADD CONSTRAINT hit_api_2023_11_pkey PRIMARY KEY (dimension, hour, status);
ALTER TABLE ONLY public.hit_api_day
    ADD CONSTRAINT hit_api_day_pkey PRIMARY KEY (dimension, day, status);
ALTER TABLE ONLY public.hit_api_day_2023_11
    ADD CONSTRAINT hit_api_day_2023_11_pkey PRIMARY KEY (dimension, day, status);
ALTER TABLE ONLY public.hit_day
    ADD CONSTRAINT hit_day_pkey PRIMARY KEY (dimension, day, status);
ALTER TABLE ONLY public.hit_day_2023_11
    ADD CONSTRAINT hit_day_2023_11_pkey PRIMARY KEY (dimension, day, status);
ALTER TABLE ONLY public.hit_dimension
    ADD CONSTRAINT hit_dimension_hash_key UNIQUE (hash);
ALTER TABLE ONLY public.hit_dimension
    ADD CONSTRAINT hit_dimension_pkey PRIMARY KEY (number);
ALTER TABLE ONLY public.hit_dimension_use
    ADD CONSTRAINT hit_dimension_use_pkey PRIMARY KEY (dimension);
ALTER TABLE ONLY public.hit_journal
    ADD CONSTRAINT hit_journal_pkey PRIMARY KEY ("row");
ALTER TABLE ONLY public.hit_minute
    ADD CONSTRAINT hit_minute_pkey PRIMARY KEY (minute, dimension, status);
ALTER TABLE ONLY public.hit_minute_state
    ADD CONSTRAINT hit_minute_state_pkey PRIMARY KEY (one);
ALTER TABLE ONLY public.hit_source
    ADD CONSTRAINT hit_source_pkey PRIMARY KEY (source);
ALTER TABLE ONLY public.record_dropped
    ADD CONSTRAINT record_dropped_pkey PRIMARY KEY (minute, org_id, api_id);
ALTER TABLE ONLY public.session_alias
    ADD CONSTRAINT session_alias_pkey PRIMARY KEY (session);
ALTER TABLE ONLY public.session
    ADD CONSTRAINT session_pkey PRIMARY KEY (number);
ALTER TABLE ONLY public.session_ref
    ADD CONSTRAINT session_ref_pkey PRIMARY KEY (sort, value, session);
ALTER TABLE ONLY public.store_state
    ADD CONSTRAINT store_state_pkey PRIMARY KEY (one);
ALTER TABLE ONLY public.ticket
    ADD CONSTRAINT ticket_pkey PRIMARY KEY (hash);
CREATE INDEX audit_by_at ON public.audit USING btree (at_ms, number);
CREATE INDEX audit_by_org ON public.audit USING btree (org_id, at_ms, number);
CREATE INDEX audit_change_by_document ON public.audit_change USING btree (kind, id, audit);
CREATE INDEX delivery_by_age ON public.delivery USING btree (created_at) WHERE dead;
CREATE INDEX delivery_by_queue ON public.delivery USING btree (queue, id) WHERE (NOT dead);
CREATE INDEX delivery_dead ON public.delivery USING btree (queue, id) WHERE dead;
CREATE INDEX document_by_filed ON public.document USING btree (filed);
CREATE INDEX document_index_by_id ON public.document_index USING btree (kind, id);
CREATE INDEX document_index_by_value ON public.document_index USING btree (kind, name, value, id);
CREATE UNIQUE INDEX document_index_unique ON public.document_index USING btree (kind, name, value) WHERE uniq;
CREATE INDEX hit_by_time ON ONLY public.hit USING brin (hour) WITH (pages_per_range='16');
CREATE INDEX hit_2023_11_hour_idx ON public.hit_2023_11 USING brin (hour) WITH (pages_per_range='16');
CREATE INDEX hit_api_by_time ON ONLY public.hit_api USING brin (hour) WITH (pages_per_range='16');
CREATE INDEX hit_api_2023_11_hour_idx ON public.hit_api_2023_11 USING brin (hour) WITH (pages_per_range='16');
CREATE INDEX hit_api_day_by_time ON ONLY public.hit_api_day USING brin (day) WITH (pages_per_range='16');
CREATE INDEX hit_api_day_2023_11_day_idx ON public.hit_api_day_2023_11 USING brin (day) WITH (pages_per_range='16');
CREATE INDEX hit_day_by_time ON ONLY public.hit_day USING brin (day) WITH (pages_per_range='16');
CREATE INDEX hit_day_2023_11_day_idx ON public.hit_day_2023_11 USING brin (day) WITH (pages_per_range='16');
CREATE INDEX hit_dimension_by_api ON public.hit_dimension USING hash (api_id);
CREATE INDEX hit_dimension_by_client ON public.hit_dimension USING btree (client_id) WHERE (client_id <> ''::text);
CREATE INDEX hit_dimension_by_key ON public.hit_dimension USING hash (key_hash);
CREATE INDEX hit_dimension_use_by_day ON public.hit_dimension_use USING btree (last_day);
CREATE INDEX record_covered ON ONLY public.record USING btree (at_ms, number) INCLUDE (org_id, api_id, status);
CREATE INDEX record_2023_11_at_ms_number_org_id_api_id_status_idx ON public.record_2023_11 USING btree (at_ms, number) INCLUDE (org_id, api_id, status);
CREATE INDEX record_by_number ON ONLY public.record USING btree (number);
CREATE INDEX record_2023_11_number_idx ON public.record_2023_11 USING btree (number);
CREATE INDEX record_by_request_id ON ONLY public.record USING btree (request_id) WHERE (request_id <> ''::text);
CREATE INDEX record_2023_11_request_id_idx ON public.record_2023_11 USING btree (request_id) WHERE (request_id <> ''::text);
CREATE INDEX session_by_evict_at ON public.session USING btree (evict_at) WHERE (evict_at > 0);
CREATE INDEX session_by_family ON public.session USING btree (family) WHERE (family <> ''::text);
CREATE UNIQUE INDEX session_by_hash ON public.session USING btree (hash);
CREATE INDEX ticket_by_family ON public.ticket USING btree (family) WHERE (family <> ''::text);
CREATE INDEX ticket_by_keep_until ON public.ticket USING btree (keep_until);
ALTER INDEX public.hit_by_time ATTACH PARTITION public.hit_2023_11_hour_idx;
ALTER INDEX public.hit_pkey ATTACH PARTITION public.hit_2023_11_pkey;
ALTER INDEX public.hit_api_by_time ATTACH PARTITION public.hit_api_2023_11_hour_idx;
ALTER INDEX public.hit_api_pkey ATTACH PARTITION public.hit_api_2023_11_pkey;
ALTER INDEX public.hit_api_day_by_time ATTACH PARTITION public.hit_api_day_2023_11_day_idx;
ALTER INDEX public.hit_api_day_pkey ATTACH PARTITION public.hit_api_day_2023_11_pkey;
ALTER INDEX public.hit_day_by_time ATTACH PARTITION public.hit_day_2023_11_day_idx;
ALTER INDEX public.hit_day_pkey ATTACH PARTITION public.hit_day_2023_11_pkey;
ALTER INDEX public.record_covered ATTACH PARTITION public.record_2023_11_at_ms_number_org_id_api_id_status_idx;
ALTER INDEX public.record_by_number ATTACH PARTITION public.record_2023_11_number_idx;
ALTER INDEX public.record_by_request_id ATTACH PARTITION public.record_2023_11_request_id_idx;
