/** What callers are told about options that the compiler did not see. */
import t from 'tap'
import type { TSchema } from '../../src/index.ts'
import { core, defineController, defineConversion, defineKind, defineOperator, defineWebhook, Type } from '../../src/index.ts'

const version = { name: 'v1', spec: Type.Object({ size: Type.Integer({ default: 1 }) }) }
const definition = { group: 'example.com', kind: 'Thing', versions: [version] }
const thing = defineKind({ group: 'example.com', kind: 'Thing', versions: [version] })
const kindWithSpec = (spec: TSchema) => defineKind({ ...definition, versions: [{ name: 'v1', spec }] })
const reconcile = (): Promise<void> => Promise.resolve()

/** Options as a program in JavaScript may write them. */
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
    'what is no schema',
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
    /^The controller "thing" is not well defined: workers: must be a whole number of at least 1, found 0\.$/,
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
    /^The webhook for Thing\.example\.com is not well defined: validates: unknown field; did you mean validate\?\.$/,
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
    'an index that is none',
    () => defineController(thing, { reconcile, indexes: [{}] } as never),
    'PRO_CONFIG_INVALID',
    /: indexes\[0\]: must be what defineCacheIndex returns, found an object\.$/,
  ],
  [
    'definitions that nothing has been made of',
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

t.test('an option that is undefined is as good as absent', async (t) => {
  t.doesNotThrow(() => defineController(thing, { reconcile, workers: undefined } as never))
})

t.test('what a default, an example, an enum or the name of a property says is no keyword of a schema', async (t) => {
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
