import { apps, controllerReference, defineController, defineKind, defineOperator, defineWebhook, hasFields, keyOf, Type } from 'proreus'

export const site = defineKind({
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
      owns: [apps.deployment],
      rbac: [{ apiGroups: ['apps'], resources: ['deployments'], verbs: ['create', 'patch'] }],
      async reconcile(object, { cache, client }) {
        const { name, generation } = object.metadata
        const { replicas, template } = object.spec
        const labels = { ...template.metadata?.labels, site: name }
        const wanted = {
          metadata: {
            ...keyOf(object),
            // `hasFields` does not detect that a field was removed from the template. This annotation changes when the spec of the Site
            // changes. The Deployment is then applied again.
            annotations: { 'example.com/site-generation': String(generation) },
            ownerReferences: [controllerReference(object)],
          },
          spec: {
            replicas,
            selector: { matchLabels: { site: name } },
            template: { ...template, metadata: { ...template.metadata, labels } },
          },
        }
        if (!hasFields(cache.get(apps.deployment, keyOf(object)), wanted)) await client.apply(apps.deployment, wanted)
      },
    }),
  ],
})
