import { controllerReference, core, defineController, defineKind, defineOperator, defineWebhook, invalid, keyOf, Type } from 'proreus'

export const hello = defineKind({
  group: 'example.com',
  kind: 'Hello',
  versions: [
    {
      name: 'v1',
      spec: Type.Object({ message: Type.String({ minLength: 1 }), times: Type.Integer({ minimum: 1, maximum: 5, default: 2 }) }),
      status: Type.Object({ said: Type.String() }),
      printerColumns: [{ name: 'Said', jsonPath: '.status.said' }],
    },
  ],
})

export const operator = defineOperator({
  name: 'hello',
  kinds: [hello],
  webhooks: [
    defineWebhook(hello, {
      validate: ({ spec }) => (spec.message.includes('bye') ? [invalid('spec.message', spec.message, 'must greet')] : []),
    }),
  ],
  controllers: [
    defineController(hello, {
      owns: [core.configMap],
      rbac: [{ apiGroups: [''], resources: ['configmaps'], verbs: ['create', 'patch'] }],
      async reconcile(object, { cache, client }) {
        const key = keyOf(object)
        const said = Array(object.spec.times).fill(object.spec.message).join(' ')
        const metadata = { ...key, ownerReferences: [controllerReference(object)] }
        if (cache.get(core.configMap, key)?.data?.['said'] !== said) await client.apply(core.configMap, { metadata, data: { said } })
        if (object.status?.said !== said) await client.patchStatus(hello, key, { status: { said } })
      },
    }),
  ],
})
