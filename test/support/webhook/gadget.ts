/** A kind that uses every feature of a schema. In an object of this kind, `spec.note` selects how the handlers fail. */
import { invalid, required } from '../../../src/api/field-error.ts'
import type { JsonObject } from '../../../src/api/json.ts'
import type { Infer } from '../../../src/api/kind.ts'
import { defineKind } from '../../../src/api/kind.ts'
import { failure } from '../../../src/api/status.ts'
import { Type } from '../../../src/api/type.ts'
import type { WebhookHandlers } from '../../../src/webhook/definition/definition.ts'

export const gadget = defineKind({
  group: 'fuzz.example.com',
  kind: 'Gadget',
  versions: [
    {
      name: 'v1',
      storage: true,
      spec: Type.Object(
        {
          size: Type.Integer({ minimum: 1, maximum: 1000, default: 3, multipleOf: 1 }),
          ratio: Type.Optional(Type.Number({ minimum: 0, maximum: 1 })),
          name: Type.Optional(Type.String({ maxLength: 40, pattern: '^[a-z0-9]([-a-z0-9]*[a-z0-9])?$' })),
          note: Type.Optional(Type.String({ maxLength: 400 })),
          mode: Type.Enum(['fast', 'safe'], { default: 'safe' }),
          port: Type.Optional(Type.IntOrString()),
          since: Type.Optional(Type.String({ format: 'date-time' })),
          wait: Type.Optional(Type.String({ format: 'duration' })),
          address: Type.Optional(Type.String({ format: 'ipv4' })),
          maybe: Type.Optional(Type.Nullable(Type.String({ maxLength: 10 }))),
          labels: Type.Optional(Type.Record(Type.String({ maxLength: 63 }), { maxProperties: 8 })),
          tags: Type.Optional(Type.Array(Type.String({ maxLength: 20 }), { listType: 'set', maxItems: 8 })),
          parts: Type.Optional(
            Type.Array(
              Type.Object(
                { name: Type.String({ maxLength: 20 }), color: Type.String({ default: 'red' }), weight: Type.Optional(Type.Integer()) },
                { rules: [{ rule: '!has(self.weight) || self.weight >= 0', messageExpression: "'weightless: ' + self.name" }] },
              ),
              { listType: 'map', listMapKeys: ['name'], maxItems: 8 },
            ),
          ),
          free: Type.Optional(Type.Unknown()),
          template: Type.Optional(Type.EmbeddedResource()),
        },
        {
          rules: [
            { rule: "self.mode != 'fast' || self.size <= 100", message: 'too large to be fast', fieldPath: '.size' },
            { rule: '!has(oldSelf.name) || (has(self.name) && self.name == oldSelf.name)', message: 'name is for ever' },
          ],
        },
      ),
      status: Type.Object({ ready: Type.Boolean() }),
    },
  ],
})
export type Gadget = Infer<typeof gadget>

/** The handlers of the kind. `spec.note` of an object determines how they fail. */
export const gadgetHandlers: WebhookHandlers<Gadget> = {
  default(object) {
    switch (object.spec.note) {
      case 'default throws':
        throw new Error('default failed: \ud800')
      case 'default gives nothing':
        return undefined as never
      case 'default breaks':
        return { ...object, spec: { ...object.spec, size: 'large' as never } }
      case 'default writes':
        ;(object.spec as { size: number }).size = 5
        break
      default:
        break
    }
    return object.spec.name === undefined ? { ...object, spec: { ...object.spec, name: `gadget-${object.spec.size}` } } : object
  },
  async validate(object, old, { warn }) {
    if (object.spec.note === 'validate throws') throw new TypeError('validate failed')
    if (object.spec.note === 'validate throws a text') throw 'just a text' as unknown as Error
    if (object.spec.note === 'warns') warn('odd\nnote "\u0000"')
    await Promise.resolve()
    return [
      ...(object.spec.note === 'refused' ? [invalid('spec.note', object.spec.note, 'must be another')] : []),
      ...(old?.spec.ratio !== undefined && object.spec.ratio === undefined ? [required('spec.ratio')] : []),
    ]
  },
  validateInCluster(object) {
    if (object.spec.note === 'validateInCluster throws') return Promise.reject(new Error('validateInCluster failed'))
    return object.spec.note === 'validateInCluster refuses' ? failure(403, 'Forbidden', 'not you') : []
  },
  validateDelete(object) {
    // The webhook server does not validate the old object of an AdmissionReview, so `spec` may be undefined.
    return (object.spec as { note?: string } | undefined)?.note === 'kept' ? failure(409, 'Conflict', 'still needed') : []
  },
}

export const notes = [
  'fine',
  'fine',
  'default throws',
  'default gives nothing',
  'default breaks',
  'default writes',
  'validate throws',
  'validate throws a text',
  'warns',
  'refused',
  'validateInCluster throws',
  'validateInCluster refuses',
  'kept',
]

/** Returns a valid Gadget. */
export function goodGadget(note: string, size: number): JsonObject {
  return {
    apiVersion: 'fuzz.example.com/v1',
    kind: 'Gadget',
    metadata: { name: 'a', namespace: 'ns', labels: { app: 'x' } },
    spec: {
      size,
      ratio: 0.5,
      note,
      port: size % 2 === 0 ? 80 : 'http',
      since: '2020-01-01T00:00:00Z',
      wait: '1h',
      address: '10.0.0.1',
      maybe: null,
      labels: { a: 'b' },
      tags: ['a', 'b'],
      parts: [{ name: 'a', weight: 1 }, { name: 'b' }],
      free: { any: [1, { thing: true }] },
      template: { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' }, data: { a: 'b' } },
    },
  }
}
