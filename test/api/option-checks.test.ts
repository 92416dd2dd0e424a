/** Tests of the errors for invalid options in a JavaScript program. No compiler checks the options of a JavaScript program. */
import t from 'tap'
import * as checks from '../../src/api/option-checks.ts'
import { isPolicyRule } from '../../src/api/policy-rule.ts'
import { isSchema } from '../../src/api/schema-checks.ts'
import type { TSchema } from '../../src/index.ts'
import { core, defineController, defineConversion, defineKind, defineOperator, defineWebhook, Type } from '../../src/index.ts'

const version = { name: 'v1', spec: Type.Object({ size: Type.Integer({ default: 1 }) }) }
const definition = { group: 'example.com', kind: 'Thing', versions: [version] }
const thing = defineKind({ group: 'example.com', kind: 'Thing', versions: [version] })
const kindWithSpec = (spec: TSchema) => defineKind({ ...definition, versions: [{ name: 'v1', spec }] })
const reconcile = (): Promise<void> => Promise.resolve()

/**
 * Calls with invalid options. Each case consists of a name, the call, the expected error code, and a pattern for the expected message. The
 * TypeScript compiler rejects most of these options, but no compiler checks the options of a JavaScript program.
 */
const cases: [string, () => unknown, string, RegExp][] = [
  [
    'misspelled fields of a version',
    () => defineKind({ ...definition, versions: [{ ...version, printerColums: [], storge: true }] } as never),
    'PRO_KIND_INVALID',
    /versions\[0\]\.printerColums: unknown field; did you mean printerColumns\?; versions\[0\]\.storge: unknown field; did you mean storage\?\.$/,
  ],
  [
    'a column without a path',
    () => defineKind({ ...definition, versions: [{ ...version, printerColumns: [{ name: 'A', type: 'text' }] }] } as never),
    'PRO_KIND_INVALID',
    /versions\[0\]\.printerColumns\[0\]\.jsonPath: is missing; versions\[0\]\.printerColumns\[0\]\.type: must be one of "string", /,
  ],
  ['no versions', () => defineKind({ group: 'a.b', kind: 'A' } as never), 'PRO_KIND_INVALID', /: versions: is missing\.$/],
  [
    'misspelled keywords of schemas, wherever they are',
    () =>
      kindWithSpec(
        Type.Object({
          name: Type.String({ maxLenght: 3 } as never),
          ports: Type.Array(Type.Integer({ min: 1, maximun: 3 } as never)),
          labels: Type.Record(Type.String({ patern: '^a$' } as never)),
        }),
      ),
    'PRO_KIND_INVALID',
    /: versions\[0\]\.spec\.properties\.name\.maxLenght: unknown field; did you mean maxLength\?; versions\[0\]\.spec\.properties\.ports\.items\.min: unknown field; versions\[0\]\.spec\.properties\.ports\.items\.maximun: unknown field; did you mean maximum\?; versions\[0\]\.spec\.properties\.labels\.additionalProperties\.patern: unknown field; did you mean pattern\?\.$/,
  ],
  [
    'a misspelled keyword in a branch of a schema in JSON, and in a status',
    () =>
      defineKind({
        ...definition,
        versions: [{ ...version, spec: { type: 'object', anyOf: [{}, { not: { requird: ['a'] } }] }, status: { propertis: {} } }],
      } as never),
    'PRO_KIND_INVALID',
    /: versions\[0\]\.spec\.anyOf\[1\]\.not\.requird: unknown field; did you mean required\?; versions\[0\]\.status\.propertis: unknown field; did you mean properties\?\.$/,
  ],
  [
    'a spec that is not a schema',
    () => kindWithSpec({ type: 'object', properties: { a: 'string', b: { items: [] } } } as never),
    'PRO_KIND_INVALID',
    /: versions\[0\]\.spec\.properties\.a: must be an object, found "string"; versions\[0\]\.spec\.properties\.b\.items: must be an object, found a list\.$/,
  ],
  [
    'a misspelled message of a rule of a schema',
    () => kindWithSpec(Type.Object({ a: Type.String({ rules: [{ rule: 'true', mesage: 'No.' } as never] }) })),
    'PRO_KIND_INVALID',
    /: versions\[0\]\.spec\.properties\.a\.x-kubernetes-validations\[0\]\.mesage: unknown field; did you mean message\?\.$/,
  ],
  [
    'a misspelled message of a rule of a version',
    () => defineKind({ ...definition, versions: [{ ...version, rules: [{ rule: 'true', mesage: 'No.' } as never] }] }),
    'PRO_KIND_INVALID',
    /: versions\[0\]\.rules\[0\]\.mesage: unknown field; did you mean message\?\.$/,
  ],
  [
    'no workers',
    () => defineController(thing, { reconcile, workers: 0 }),
    'PRO_CONFIG_INVALID',
    /^The controller "thing" is invalid: workers: must be a whole number of at least 1, found 0\.$/,
  ],
  ['no reconcile', () => defineController(thing, {} as never), 'PRO_CONFIG_INVALID', /: reconcile: is missing\.$/],
  [
    'a name where a type is expected',
    () => defineController(thing, { reconcile, owns: ['x'] } as never),
    'PRO_CONFIG_INVALID',
    /: owns\[0\]: must be a type, such as core\.pod, or what defineKind returns, found "x"\.$/,
  ],
  [
    'a watch without a map',
    () => defineController(thing, { reconcile, watches: [{ type: core.pod }] } as never),
    'PRO_CONFIG_INVALID',
    /: watches\[0\]\.map: is missing\.$/,
  ],
  [
    'a misspelled handler',
    () => defineWebhook(thing, { validates: () => [] } as never),
    'PRO_CONFIG_INVALID',
    /^The webhook for Thing\.example\.com is invalid: validates: unknown field; did you mean validate\?\.$/,
  ],
  [
    'a handler of another framework',
    () => defineWebhook(thing, { validateCreate: () => [], refuseInvalid: false } as never),
    'PRO_CONFIG_INVALID',
    /: validateCreate: unknown field; refuseInvalid: unknown field\.$/,
  ],
  [
    'a selector with a misspelled field',
    () =>
      defineWebhook(thing, {
        objectSelector: { matchLabel: { a: 'b' } },
        namespaceSelector: { matchExpressions: [{ key: 'a' }] },
      } as never),
    'PRO_CONFIG_INVALID',
    /: objectSelector\.matchLabel: unknown field; did you mean matchLabels\?; namespaceSelector\.matchExpressions\[0\]\.operator: is missing\.$/,
  ],
  [
    'a rule with a misspelled field',
    () => defineController(thing, { reconcile, rbac: [{ apiGroup: '', resources: ['pods'], verbs: 'get' }] } as never),
    'PRO_CONFIG_INVALID',
    /: rbac\[0\]\.apiGroups: is missing; rbac\[0\]\.apiGroup: unknown field; did you mean apiGroups\?; rbac\[0\]\.verbs: must be a list, found "get"\.$/,
  ],
  [
    'an index that is not made by defineCacheIndex',
    () => defineController(thing, { reconcile, indexes: [{}] } as never),
    'PRO_CONFIG_INVALID',
    /: indexes\[0\]: must be what defineCacheIndex returns, found an object\.$/,
  ],
  [
    'raw definitions instead of defined kinds and webhooks',
    () =>
      defineOperator({ name: 'a', kinds: [thing], webhooks: [{ validate: () => [] }], controllers: [{ reconcile }], rbac: [{}] } as never),
    'PRO_CONFIG_INVALID',
    /: webhooks\[0\]: must be what defineWebhook returns, found an object; controllers\[0\]: must be what defineController returns, found an object; rbac\[0\]\.apiGroups: is missing; /,
  ],
  [
    'converters beside the settings',
    () => defineConversion(thing, { v1: {} } as never),
    'PRO_KIND_INVALID',
    /: converters: is missing; v1: unknown field\.$/,
  ],
  [
    'a misspelled part of an operator',
    () => defineOperator({ name: 'a', kinds: [thing], controlers: [] } as never),
    'PRO_CONFIG_INVALID',
    /: controlers: unknown field; did you mean controllers\?\.$/,
  ],
]

for (const [name, define, code, message] of cases) t.test(name, async (t) => void t.throws(define, { code, message }))

t.test('an undefined option is absent', async (t) => {
  t.doesNotThrow(() => defineController(thing, { reconcile, workers: undefined } as never))
})

t.test('data in defaults, examples, enums and property names is not checked as keywords', async (t) => {
  const data = { maxLenght: 3, properties: 'any' }
  const spec = {
    type: 'object',
    title: 'A thing',
    externalDocs: { url: 'https://example.com' },
    properties: {
      maxLenght: { type: 'integer', default: 3, nullable: true },
      any: { type: 'object', default: data, example: data, enum: [data], additionalProperties: true, 'x-kubernetes-map-type': 'atomic' },
      absent: undefined,
    },
  }
  t.doesNotThrow(() => kindWithSpec(spec as never))
})

t.test('each check reports path, expected and found value', async (t) => {
  const named = checks.isOneOf('a', 'b')
  const cases: readonly (readonly [checks.OptionCheck, unknown, string | undefined])[] = [
    [checks.isAnything, undefined, undefined],
    [checks.isText, '', undefined],
    [checks.isText, 5, 'must be a string, found 5'],
    [checks.isBoolean, false, undefined],
    [checks.isBoolean, 'true', 'must be true or false, found "true"'],
    [checks.isFunction, () => 1, undefined],
    [checks.isFunction, {}, 'must be a function, found an object'],
    [checks.isAnObject, {}, undefined],
    [checks.isAnObject, null, 'must be an object, found null'],
    [checks.isAnObject, [], 'must be an object, found a list'],
    [checks.isAnObject, () => 1, 'must be an object, found a function'],
    [checks.isAnObject, undefined, 'must be an object, found undefined'],
    [checks.isAnObject, 5n, 'must be an object, found a bigint'],
    [checks.isResourceType, core.pod, undefined],
    [checks.isResourceType, { plural: 'a', kind: 'A' }, 'must be a type, such as core.pod, or what defineKind returns, found an object'],
    [
      checks.isResourceType,
      { plural: 'a', version: 'v1' },
      'must be a type, such as core.pod, or what defineKind returns, found an object',
    ],
    [checks.isResourceType, { kind: 'A', version: 'v1' }, 'must be a type, such as core.pod, or what defineKind returns, found an object'],
    [checks.isWholeNumber(2), 2, undefined],
    [checks.isWholeNumber(2), 1, 'must be a whole number of at least 2, found 1'],
    [checks.isWholeNumber(2), 2.5, 'must be a whole number of at least 2, found 2.5'],
    [checks.isWholeNumber(2), '3', 'must be a whole number of at least 2, found "3"'],
    [checks.isDuration, 0.1, undefined],
    [checks.isDuration, 0, 'must be a number of milliseconds above 0, found 0'],
    [checks.isDuration, '1', 'must be a number of milliseconds above 0, found "1"'],
    [checks.isDelay, 0, undefined],
    [checks.isDelay, -0.1, 'must be a number of milliseconds of at least 0, found -0.1'],
    [checks.isDelay, NaN, 'must be a number of milliseconds of at least 0, found NaN'],
    [named, 'a', undefined],
    [named, 'c', 'must be one of "a", "b", found "c"'],
    [named, 5, 'must be one of "a", "b", found 5'],
  ]
  for (const [check, value, problem] of cases) {
    t.strictSame(check(value, 'x.y'), problem === undefined ? [] : [`x.y: ${problem}`])
    if (problem !== undefined) t.strictSame(check(value, ''), [`options: ${problem}`])
  }
})

t.test('lists, maps and options are checked completely, with paths', async (t) => {
  t.strictSame(checks.isListOf(checks.isText)(['a', 1, 'b', 2], 'l'), [
    'l[1]: must be a string, found 1',
    'l[3]: must be a string, found 2',
  ])
  t.strictSame(checks.isListOf(checks.isText)({}, 'l'), ['l: must be a list, found an object'])
  t.strictSame(checks.isMapOf(checks.isText)({ a: 1, b: 'x', c: undefined }, 'm'), ['m.a: must be a string, found 1'])
  t.strictSame(checks.isMapOf(checks.isText)([], 'm'), ['m: must be an object, found a list'])
  const options = checks.hasOptions({ name: checks.isText, size: checks.isBoolean }, ['name', 'size'])
  t.strictSame(options({ name: 'a', size: true }, 'o'), [])
  t.strictSame(options({ name: undefined, size: 1, nam: 'x', constructor: 1 }, 'o'), [
    'o.name: is missing',
    'o.size: must be true or false, found 1',
    'o.nam: unknown field; did you mean name?',
    'o.constructor: unknown field',
  ])
  t.strictSame(options({ size: true }, ''), ['name: is missing'])
  t.strictSame(options(5, ''), ['options: must be an object, found 5'])
  const open = checks.hasOptions({ name: checks.isText }, [], { mayHaveOthers: true })
  t.strictSame(open({ nam: 1, other: 2 }, ''), ['nam: unknown field; did you mean name?'])
})

t.test('an unknown name close to a known one gets a suggestion', async (t) => {
  const known = ['validate', 'default', 'owns']
  const cases: readonly (readonly [string, string])[] = [
    ['validte', '; did you mean validate?'],
    ['VALIDATE', '; did you mean validate?'],
    ['vlidte', '; did you mean validate?'],
    ['vlidt', ''],
    ['own', '; did you mean owns?'],
    ['on', ''],
    ['owwns', '; did you mean owns?'],
    ['oxxs', ''],
    ['xyz', ''],
  ]
  for (const [name, expected] of cases) t.equal(checks.suggestion(name, known), expected, name)
  t.equal(checks.suggestion('a', []), '')
})

t.test('refuseOptions throws the problems, if any', async (t) => {
  t.doesNotThrow(() => checks.refuseOptions('f', []))
  t.throws(() => checks.refuseOptions('f', ['a: is missing']), { message: /^The options of f are invalid: a: is missing\.$/ })
  t.throws(() => checks.refuseOptions('f', ['a: is missing', 'b: unknown field']), {
    code: 'PRO_CONFIG_INVALID',
    message: 'The options of f are invalid: a: is missing; b: unknown field.',
  })
})

t.test('a PolicyRule has lists of strings', async (t) => {
  t.strictSame(isPolicyRule({ apiGroups: [], resources: [], verbs: ['get'], resourceNames: ['a'], nonResourceURLs: ['/x'] }, 'r'), [])
  t.strictSame(isPolicyRule({ apiGroups: 'a', resources: [1], resourceNames: 2, nonResourceURLs: [3] }, 'r'), [
    'r.verbs: is missing',
    'r.apiGroups: must be a list, found "a"',
    'r.resources[0]: must be a string, found 1',
    'r.resourceNames: must be a list, found 2',
    'r.nonResourceURLs[0]: must be a string, found 3',
  ])
})

t.test('nested schemas are checked at any place', async (t) => {
  const wrong = { typ: 1 }
  const problem = 'unknown field; did you mean type?'
  t.strictSame(
    isSchema(
      {
        properties: { a: wrong },
        additionalProperties: wrong,
        items: wrong,
        allOf: [{}, wrong],
        anyOf: [wrong],
        oneOf: [wrong],
        not: wrong,
        externalDocs: 'x',
        'x-kubernetes-validations': [{ rule: 'true', message: 1, messageExpression: 2, reason: 3, fieldPath: 4, optionalOldSelf: 5 }, {}],
      },
      's',
    ),
    [
      `s.properties.a.typ: ${problem}`,
      `s.additionalProperties.typ: ${problem}`,
      `s.items.typ: ${problem}`,
      `s.allOf[1].typ: ${problem}`,
      `s.anyOf[0].typ: ${problem}`,
      `s.oneOf[0].typ: ${problem}`,
      `s.not.typ: ${problem}`,
      's.externalDocs: must be an object, found "x"',
      's.x-kubernetes-validations[1].rule: is missing',
    ],
  )
  t.strictSame(isSchema({ additionalProperties: false }, 's'), [])
  t.strictSame(isSchema({ additionalProperties: true }, 's'), [])
  t.strictSame(isSchema({ allOf: {} }, 's'), ['s.allOf: must be a list, found an object'])
})

t.test('each keyword of a structural schema is known', async (t) => {
  const keywords = [
    ...['type', 'title', 'description', 'format', 'nullable', 'default', 'example', 'enum', 'required', 'pattern', 'multipleOf'],
    ...['minProperties', 'maxProperties', 'minItems', 'maxItems', 'uniqueItems', 'minLength', 'maxLength'],
    ...['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum'],
    ...['x-kubernetes-int-or-string', 'x-kubernetes-preserve-unknown-fields', 'x-kubernetes-embedded-resource'],
    ...['x-kubernetes-list-type', 'x-kubernetes-list-map-keys', 'x-kubernetes-map-type'],
  ]
  for (const keyword of keywords) t.strictSame(isSchema({ [keyword]: 1 }, 's'), [], keyword)
  for (const keyword of ['const', '$ref', 'id', 'definitions', 'patternProperties', 'x-kubernetes-unions', 'toString'])
    t.match(isSchema({ [keyword]: 1 }, 's'), [/unknown field/], keyword)
  const other = { properties: {}, items: {}, allOf: [], anyOf: [], oneOf: [], not: {}, externalDocs: {}, 'x-kubernetes-validations': [] }
  t.strictSame(isSchema(other, 's'), [])
})
