import { defineController, controllerReference, defineKind, defineOperator, deployment, Type, defineWebhook } from 'proreus'

const site = defineKind({
  group: 'example.com',
  kind: 'Site',
  versions: [
    {
      name: 'v1',
      spec: Type.Object({
        replicas: Type.Integer({ minimum: 0, default: 1 }),
        template: Type.Builtin('PodTemplateSpec', { description: 'The Pods that serve the site.' }),
      }),
    },
  ],
})

export const operator = defineOperator({
  name: 'site',
  kinds: [site],
  webhooks: [defineWebhook(site)],
  controllers: [
    defineController(site, {
      owns: [deployment],
      rbac: [{ apiGroups: ['apps'], resources: ['deployments'], verbs: ['get', 'list', 'watch', 'create', 'patch'] }],
      async reconcile(object, { client }) {
        const { name, namespace = '' } = object.metadata
        const { replicas, template } = object.spec
        const labels = { ...template.metadata?.labels, site: name }
        await client.apply(deployment, {
          metadata: { name, namespace, ownerReferences: [controllerReference(object)] },
          spec: {
            replicas,
            selector: { matchLabels: { site: name } },
            template: { ...template, metadata: { ...template.metadata, labels } },
          },
        })
      },
    }),
  ],
})
