import { applyIfChanged, Conditions, controllerReference, core, defineController, defineConversion, defineKind } from 'proreus'
import { defineOperator, defineWebhook, invalid, keyOf, mergeConditions, patchStatusIfChanged, Type } from 'proreus'

export const database = defineKind({
  group: 'example.com',
  kind: 'Database',
  versions: [
    {
      name: 'v1',
      storage: true,
      spec: Type.Object({ gibibytes: Type.Integer({ minimum: 1, default: 1 }), owner: Type.String({ default: 'nobody' }) }),
      status: Type.Object({ conditions: Conditions }),
    },
    {
      name: 'v1beta1',
      spec: Type.Object({ size: Type.Enum(['small', 'large']), owner: Type.String({ default: 'nobody' }) }),
      status: Type.Object({ conditions: Conditions }),
    },
  ],
})

/** The databases of a service outside the cluster. The key is the name, and the value is the size in GiB. */
export const service = new Map<string, number>()

export const operator = defineOperator({
  name: 'databases',
  kinds: [database],
  conversions: [
    defineConversion(database, {
      converters: {
        v1beta1: {
          toHub: ({ spec }) => ({ spec: { gibibytes: spec.size === 'small' ? 1 : 10, owner: spec.owner } }),
          fromHub: ({ spec }) => ({ spec: { size: spec.gibibytes < 10 ? 'small' : 'large', owner: spec.owner } }),
        },
      },
    }),
  ],
  webhooks: [
    defineWebhook(database, {
      validate: ({ spec }, old) =>
        old !== undefined && spec.gibibytes < old.spec.gibibytes ? [invalid('spec.gibibytes', spec.gibibytes, 'must not shrink')] : [],
    }),
  ],
  controllers: [
    defineController(database, {
      owns: [core.configMap],
      rbac: [{ apiGroups: [''], resources: ['configmaps'], verbs: ['create', 'patch'] }],
      finalizer: { name: 'example.com/database', finalize: async ({ metadata }) => void service.delete(metadata.name) },
      async reconcile(object, context) {
        service.set(object.metadata.name, object.spec.gibibytes)
        const metadata = { ...keyOf(object), ownerReferences: [controllerReference(object)] }
        await applyIfChanged(context, core.configMap, { metadata, data: { address: `${object.metadata.name}.example.com` } })
        const ready = { type: 'Ready', status: 'True', reason: 'Created', message: '' } as const
        const at = { now: context.clock.now(), generation: object.metadata.generation }
        const conditions = mergeConditions(object.status?.conditions, [ready], at)
        await patchStatusIfChanged(context.client, database, object, { conditions })
      },
    }),
  ],
})
