import t from 'tap'
import { specSchemaErrors } from '../../support/structural-errors.ts'

const text = { type: 'string' }
const free = { 'x-kubernetes-preserve-unknown-fields': true }
const resource = { type: 'object', 'x-kubernetes-embedded-resource': true }
const wrongType = (path: string, place = ''): string =>
  `${path}: Invalid value: "integer": ${place} in body must be of type string: "integer"`

t.test('defaults are validated in every place', async (t) => {
  t.strictSame(specSchemaErrors({ type: 'array', items: { ...text, default: 5 } }), [wrongType('items.default')])
  t.strictSame(
    specSchemaErrors({ type: 'array', items: { type: 'object', properties: { a: { ...text, default: 5 }, b: { ...text, default: 6 } } } }),
    [wrongType('items.properties[a].default'), wrongType('items.properties[b].default')],
  )
  t.strictSame(specSchemaErrors({ type: 'object', properties: { a: { ...text, default: 5 } }, default: { a: 5 } }), [
    wrongType('default.a', 'a'),
    wrongType('properties[a].default'),
  ])
  t.strictSame(specSchemaErrors({ type: 'object', properties: { a: { ...text, default: null } } }), [], 'a null default counts as none')
})

t.test('unknown fields of a default are reported with its other errors', async (t) => {
  const schema = { type: 'object', properties: { a: text, b: { type: 'object', properties: { c: text } } } }
  t.strictSame(
    specSchemaErrors({ ...schema, default: { a: 5, b: { c: 'x', d: 1 } } }),
    [wrongType('default.a', 'a'), 'default: Invalid value: {"a":5,"b":{"c":"x","d":1}}: must not have unknown fields'].sort(),
  )
  t.strictSame(specSchemaErrors({ ...schema, default: { a: 'x', b: {} } }), [])
})

t.test('a default must be valid in each branch of its schema', async (t) => {
  const long = { minLength: 3 }
  const short = 'Invalid value: "a":  in body should be at least 3 chars long'
  t.strictSame(specSchemaErrors({ ...text, default: 'a', not: { maxLength: 2 } }), [
    'default: Invalid value: "": "" must not validate the schema (not)',
  ])
  t.strictSame(specSchemaErrors({ ...text, default: 'a', allOf: [long] }), [
    'default: Invalid value: "": "" must validate all the schemas (allOf). None validated',
    `default: ${short}`,
  ])
  t.strictSame(specSchemaErrors({ ...text, default: 'a', anyOf: [long] }), [
    'default: Invalid value: "": "" must validate at least one schema (anyOf)',
    `default: ${short}`,
  ])
  t.strictSame(specSchemaErrors({ ...text, default: 'a', oneOf: [long] }), [
    'default: Invalid value: "": "" must validate one and only one schema (oneOf). Found none valid',
    `default: ${short}`,
  ])
  for (const branches of [{ anyOf: [{ minLength: 1 }] }, { allOf: [{ minLength: 1 }] }, { oneOf: [{ minLength: 1 }] }, { not: long }])
    t.strictSame(specSchemaErrors({ ...text, default: 'a', ...branches }), [])
  const object = { type: 'object', properties: { a: text, l: { type: 'array', items: text } }, default: { a: 'x', l: ['y'] } }
  const closed = { additionalProperties: false }
  for (const branches of [{ anyOf: [closed] }, { allOf: [closed] }, { oneOf: [closed] }, { not: { not: closed } }])
    t.strictSame(specSchemaErrors({ ...object, ...branches }), [], 'additionalProperties: false in a branch is ignored')
  t.strictSame(specSchemaErrors({ ...object, allOf: [{ properties: { a: long, l: { items: long } } }] }), [
    'default.a: Invalid value: "x": a in body should be at least 3 chars long',
    'default.l[0]: Invalid value: "y": l[0] in body should be at least 3 chars long',
    'default: Invalid value: "": "" must validate all the schemas (allOf). None validated',
  ])
  t.strictSame(specSchemaErrors({ ...object, not: { anyOf: [{ properties: { l: { items: { not: long } } } }] } }), [
    'default: Invalid value: "": "" must not validate the schema (not)',
  ])
})

t.test('rules at the place of a default and below are evaluated', async (t) => {
  const ruled = { ...text, 'x-kubernetes-validations': [{ rule: 'self != "x"', message: 'not x' }] }
  t.strictSame(specSchemaErrors({ ...ruled, default: 'x' }), ['default: Invalid value: "x": not x'])
  t.strictSame(specSchemaErrors({ ...ruled, default: 'y' }), [])
  t.strictSame(specSchemaErrors({ type: 'object', properties: { a: ruled }, default: { a: 'x' } }), [
    'default.a: Invalid value: "x": not x',
  ])
  t.strictSame(
    specSchemaErrors({ type: 'object', properties: { a: { ...ruled, maxLength: 0 } }, default: { a: 'x' } }),
    ['default.a: Too long: may not be more than 0 bytes'],
    'rules are not evaluated for an invalid default',
  )
  const above = [{ rule: 'self.a != "x"', message: 'not x' }]
  t.strictSame(
    specSchemaErrors({ type: 'object', 'x-kubernetes-validations': above, properties: { a: { ...text, default: 'x' } } }),
    [],
    'rules above the default are not evaluated',
  )
})

t.test('the default of an embedded resource must be a valid resource', async (t) => {
  const withDefault = (value: unknown): string[] => specSchemaErrors({ ...resource, ...free, default: value })
  t.strictSame(withDefault({ apiVersion: 'v1', kind: 'Pod', metadata: { name: 'a' } }), [])
  t.strictSame(withDefault({ apiVersion: 'v1' }), ['default.kind: Required value'])
  t.strictSame(withDefault({ apiVersion: 'v1', kind: 5 }), ['default.kind: Invalid value: 5: must be a string'])
  t.strictSame(
    specSchemaErrors({ ...resource, properties: { apiVersion: text, kind: text }, default: { apiVersion: 'v1', kind: null } }),
    ['default.kind: Invalid value: null: must be a string'],
    'nulls of a default are not dropped',
  )
  t.strictSame(withDefault({ apiVersion: 'v1', kind: 'Pod', metadata: { labels: 5 } }), [
    'default.metadata: Invalid value: {"labels":5}: json: cannot unmarshal number into Go struct field ObjectMeta.labels of type map[string]string',
  ])
  t.strictSame(
    specSchemaErrors({ ...resource, properties: { spec: text }, default: { apiVersion: 'v1', kind: 5, other: 1 } }),
    [
      'default: Invalid value: {"apiVersion":"v1","kind":5,"other":1}: must not have unknown fields',
      'default.kind: Invalid value: 5: must be a string',
    ].sort(),
    'and must not have unknown fields',
  )
  t.strictSame(specSchemaErrors({ type: 'array', items: { ...resource, ...free }, default: [{ apiVersion: 'v1' }] }), [
    'default[0].kind: Required value',
  ])
  t.strictSame(specSchemaErrors({ type: 'array', items: { ...resource, ...free }, default: [{ apiVersion: 'v1', kind: 5 }] }), [
    'default[0].kind: Invalid value: 5: must be a string',
  ])
})

t.test('the default of a metadata field is validated as part of the metadata', async (t) => {
  const inMetadata = (properties: object): string[] =>
    specSchemaErrors({ ...resource, properties: { metadata: { type: 'object', properties } } })
  const place = 'properties[metadata].properties'
  t.strictSame(inMetadata({ name: { ...text, default: 'a' } }), [])
  t.strictSame(inMetadata({ name: { ...text, default: 'a/b' } }), [
    `${place}[name].default: Invalid value: "a/b": must result in valid metadata: metadata.name: Invalid value: "a/b": may not contain '/'`,
  ])
  const nameProblem =
    "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')"
  t.strictSame(inMetadata({ finalizers: { type: 'array', items: { ...text, default: 'a b' } } }), [
    `${place}[finalizers].items.default: Invalid value: "a b": must result in valid metadata: metadata.finalizers: Invalid value: "a b": ${nameProblem}`,
  ])
  const annotation = 'metadata.annotations: Invalid value: "/": '
  t.strictSame(
    inMetadata({ annotations: { type: 'object', ...free, default: { '/': '' } } }),
    [
      `${place}[annotations].default: Invalid value: {"/":""}: must result in valid metadata: [${annotation}prefix part must be non-empty, ${annotation}name part must be non-empty, ${annotation}${nameProblem}]`,
    ],
    'several errors are in brackets',
  )
  t.strictSame(inMetadata({ labels: { type: 'object', ...free, default: 5 } }), [
    `${place}[labels].default: Invalid value: 5: must result in valid metadata: metadata: Invalid value: {"labels":5}: json: cannot unmarshal number into Go struct field ObjectMeta.labels of type map[string]string`,
  ])
  t.strictSame(inMetadata({ name: { ...text, maxLength: 1, default: 'ab' } }), [
    `${place}[name].default: Too long: may not be more than 1 byte`,
  ])
  t.strictSame(
    inMetadata({ name: { ...text, default: 'ab', 'x-kubernetes-validations': [{ rule: 'self == "a"', message: 'must be a' }] } }),
    [`${place}[name].default: Invalid value: "ab": must be a`],
  )
  t.strictSame(
    specSchemaErrors({ ...resource, properties: { spec: { type: 'object', properties: { name: { ...text, default: 'a/b' } } } } }),
    [],
    'other metadata fields are unknown',
  )
  t.strictSame(
    specSchemaErrors({ type: 'object', properties: { metadata: { type: 'object', properties: { name: { ...text, default: 'a/b' } } } } }),
    [],
  )
  const outer = {
    ...resource,
    properties: { metadata: { type: 'object' }, spec: { ...resource, properties: { kind: { ...text, default: 'a b' } } } },
  }
  t.match(specSchemaErrors(outer), [
    /^properties\[spec\]\.properties\[kind\]\.default: Invalid value: "a b": must result in valid metadata: kind: /,
  ])
})
