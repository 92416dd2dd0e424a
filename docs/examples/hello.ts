import { configMap, defineController, controllerReference, defineKind, defineOperator, invalid, Type, defineWebhook } from 'proreus'

const hello = defineKind({
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
      owns: [configMap],
      rbac: [{ apiGroups: [''], resources: ['configmaps'], verbs: ['get', 'list', 'watch', 'create', 'patch'] }],
      async reconcile(object, { client }) {
        const { name, namespace = '' } = object.metadata
        const said = Array(object.spec.times).fill(object.spec.message).join(' ')
        await client.apply(configMap, { metadata: { name, namespace, ownerReferences: [controllerReference(object)] }, data: { said } })
        if (object.status?.said !== said) await client.patchStatus(hello, { name, namespace }, { status: { said } })
      },
    }),
  ],
})
