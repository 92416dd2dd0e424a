/** Tests of the CEL rules of custom resources: evaluation, messages, and validation of the rules in a CRD. */
import t from 'tap'
import type { JsonObject } from '../../src/api/json.ts'
import type { Api, RawAnswer } from '../support/conformance/api-request.ts'
import { apiOf } from '../support/conformance/api-request.ts'
import {
  custom,
  define,
  definition,
  definitions,
  mergePatch,
  namespace,
  object,
  objects,
  string,
} from '../support/conformance/definitions.ts'
import { until } from '../../src/testing/until.ts'
import { conformanceControlPlane } from '../support/conformance/backends.ts'

const integer: JsonObject = { type: 'integer' }
const rules = (...list: JsonObject[]): JsonObject => ({ 'x-kubernetes-validations': list })

const spec = object(
  {
    size: { ...integer, minimum: 1 },
    most: integer,
    name: { ...string, maxLength: 20, ...rules({ rule: 'self == oldSelf', message: 'name is for ever' }) },
    kept: { ...string, ...rules({ rule: "oldSelf.orValue('') != 'a' || self == 'a'", optionalOldSelf: true }) },
    parts: {
      type: 'array',
      maxItems: 10,
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['name'],
      items: object(
        { name: { ...string, maxLength: 10 }, weight: integer },
        {
          required: ['name'],
          ...rules({ rule: 'self.weight >= oldSelf.weight', messageExpression: "oldSelf.weight > 2 ? 'was heavy' : 'was light'" }),
        },
      ),
    },
    amount: { ...string, maxLength: 20, ...rules({ rule: "quantity(self).isLessThan(quantity('2Gi'))", reason: 'FieldValueForbidden' }) },
  },
  {
    ...rules(
      {
        rule: '!has(self.most) || self.size <= self.most',
        fieldPath: '.size',
        messageExpression: "self.most < 0 ? 'nothing fits' : 'too large'",
      },
      { rule: '!has(self.parts) || self.parts.all(p, p.weight > 0)' },
    ),
  },
)

/** Returns the causes of a rejected request, each as `field: message`. */
function causesOf({ body }: RawAnswer): string[] {
  const { causes = [] } = (body['details'] ?? {}) as { causes?: { field: string; message: string }[] }
  return causes.map(({ field, message }) => `${field}: ${message}`).sort()
}

t.test('rules of custom resources', async (t) => {
  const controlPlane = await conformanceControlPlane(t, { controllers: false, namespaces: [namespace] })
  const api = apiOf(t, controlPlane.connection)
  const status = object({ ready: integer })
  const schema = object({ spec, status }, rules({ rule: '!has(self.status) || self.status.ready <= self.spec.size', fieldPath: '.status' }))
  await define(t, api, definition('ruleds', 'Ruled', schema, { subresources: { status: {} } }))

  const creates: Record<string, [JsonObject, string[]]> = {
    'what fits': [{ size: 2, most: 3, name: 'a', parts: [{ name: 'a', weight: 1 }], amount: '1Gi' }, []],
    'a rule over two fields': [{ size: 4, most: 3 }, ['spec.size: Invalid value: too large']],
    'a library of Kubernetes': [
      { size: 1, amount: '3Gi' },
      [`spec.amount: Forbidden: failed rule: quantity(self).isLessThan(quantity('2Gi'))`],
    ],
    'a rule that fails': [
      { size: 1, amount: 'much' },
      [
        `spec.amount: Invalid value: "string": quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$' evaluating rule: quantity(self).isLessThan(quantity('2Gi'))`,
      ],
    ],
    'an item without what the rule needs': [
      { size: 1, parts: [{ name: 'a' }] },
      ['spec: Invalid value: "object": no such key: weight evaluating rule: !has(self.parts) || self.parts.all(p, p.weight > 0)'],
    ],
    'a bound and a rule together': [
      { size: 0, most: -1 },
      ['spec.size: Invalid value: 0: spec.size in body should be greater than or equal to 1', 'spec.size: Invalid value: nothing fits'],
    ],
    'no rule where a type is wrong': [
      { size: 'x', most: 0 },
      [
        '<nil>: Invalid value: null: some validation rules were not checked because the object was invalid; correct the existing errors to complete validation',
        'spec.size: Invalid value: "string": spec.size in body must be of type integer: "string"',
      ],
    ],
  }
  for (const [name, [given, causes]] of Object.entries(creates)) {
    t.test(name, async (t) => {
      const answer = await api('POST', `${objects('ruleds')}?dryRun=All`, { body: custom('Ruled', 'a', { spec: given }) })
      t.strictSame(causesOf(answer), causes)
      t.equal(answer.status, causes.length === 0 ? 201 : 422)
    })
  }

  t.test('transition rules use the old value', async (t) => {
    const first = { size: 2, most: 3, name: 'a', kept: 'a', parts: [{ name: 'a', weight: 3 }] }
    t.equal((await api('POST', objects('ruleds'), { body: custom('Ruled', 'changed', { spec: first }) })).status, 201)
    const patch = (api: Api, change: JsonObject, subresource = ''): Promise<RawAnswer> =>
      api('PATCH', `${objects('ruleds', 'changed')}${subresource}`, { body: change, contentType: mergePatch })
    t.strictSame(
      causesOf(
        await patch(api, {
          spec: {
            name: 'b',
            kept: 'b',
            parts: [
              { name: 'a', weight: 2 },
              { name: 'new', weight: 1 },
            ],
          },
        }),
      ),
      [
        `spec.kept: Invalid value: "b": failed rule: oldSelf.orValue('') != 'a' || self == 'a'`,
        'spec.name: Invalid value: "b": name is for ever',
        'spec.parts[0]: Invalid value: was heavy',
      ],
    )
    t.equal((await patch(api, { spec: { parts: [{ name: 'a', weight: 4 }] } })).status, 200)
    t.equal((await patch(api, { status: { ready: 2 } }, '/status')).status, 200)
    t.strictSame(causesOf(await patch(api, { status: { ready: 3 } }, '/status')), [
      'status: Invalid value: failed rule: !has(self.status) || self.status.ready <= self.spec.size',
    ])
  })

  t.test('an update need not correct an unchanged invalid value', async (t) => {
    const lax = definition('ratcheteds', 'Ratcheted', object({ spec: object({ size: integer, other: string }) }))
    await define(t, api, lax)
    const key = objects('ratcheteds', 'a')
    await api('POST', objects('ratcheteds'), { body: custom('Ratcheted', 'a', { spec: { size: 1, other: 'a' } }) })
    const sized = { ...integer, ...rules({ rule: 'self > 5', message: 'must be large' }) }
    const strict = { openAPIV3Schema: object({ spec: object({ size: sized, other: { ...string, default: 'x' } }) }) }
    const change = [{ op: 'replace', path: '/spec/versions/0/schema', value: strict }]
    await api('PATCH', `${definitions}/ratcheteds.${(lax['spec'] as JsonObject)['group'] as string}`, {
      body: change,
      contentType: 'application/json-patch+json',
    })
    await until('the rule holds', async () => {
      const { status } = await api('POST', `${objects('ratcheteds')}?dryRun=All`, { body: custom('Ratcheted', 'b', { spec: { size: 1 } }) })
      return status === 422
    })
    const merge = (body: JsonObject): Promise<RawAnswer> => api('PATCH', key, { body, contentType: mergePatch })
    const elsewhere = await merge({ spec: { other: 'b' } })
    t.equal(elsewhere.status, 200)
    t.strictSame(elsewhere.warnings, ['spec.size: Invalid value: 1: must be large'], 'the unchanged value causes a warning')
    t.strictSame(causesOf(await merge({ spec: { size: 2 } })), ['spec.size: Invalid value: 2: must be large'])
  })

  const wrong: Record<string, [JsonObject, RegExp]> = {
    'an unknown field': [object({ a: string }, rules({ rule: 'self.b' })), /compilation failed: ERROR: <input>:1:5: undefined field 'b'/],
    'a rule that is no condition': [object({ a: string }, rules({ rule: 'self.a' })), /cel expression must evaluate to a bool/],
    'a default that breaks a rule': [
      object({ a: { ...string, default: 'x', ...rules({ rule: "self == 'y'" }) } }),
      /properties\[a\]\.default: Invalid value: "x": failed rule: self == 'y'/,
    ],
    'a rule where nothing is known': [
      object({ a: { 'x-kubernetes-preserve-unknown-fields': true, ...rules({ rule: 'true' }) } }),
      /unable to convert structural schema to CEL declarations/,
    ],
    'a mistake beside a rule that is none': [
      object({ a: { ...string, uniqueItems: true }, b: { ...string, ...rules({ rule: 'self' }) } }),
      /cel expression must evaluate to a bool/,
    ],
    'no rule': [object({ a: string }, rules({ rule: ' ' })), /rule: Required value: rule is not specified/],
    'a rule that costs too much': [
      object({ a: { type: 'array', items: string, ...rules({ rule: "self.all(x, self.all(y, x == y || x.contains('a')))" }) } }),
      /estimated rule cost exceeds budget by factor of/,
    ],
    'a message that may be endless': [
      object({ a: integer }, rules({ rule: 'self.a > 0', messageExpression: "'was ' + string(self.a)" })),
      /estimated messageExpression cost exceeds budget by factor of more than 100x/,
    ],
  }
  for (const [name, [schema, message]] of Object.entries(wrong)) {
    t.test(`a definition is refused with ${name}`, async (t) => {
      const answer = await api('POST', `${definitions}?dryRun=All`, { body: definition('wrongs', 'Wrong', object({ spec: schema })) })
      t.equal(answer.status, 422)
      t.match(answer.body['message'], message)
    })
  }
})
