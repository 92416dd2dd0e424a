import { apps, controllerReference, core, defineController, defineKind, defineOperator, hasFields, keyOf, Type } from 'proreus'

export const greeter = defineKind({
  group: 'example.com',
  kind: 'Greeter',
  versions: [
    {
      name: 'v1',
      spec: Type.Object({ greeting: Type.String({ minLength: 1 }), replicas: Type.Integer({ minimum: 0, maximum: 10, default: 2 }) }),
      status: Type.Object({ readyReplicas: Type.Integer() }),
      printerColumns: [{ name: 'Ready', jsonPath: '.status.readyReplicas' }],
    },
  ],
})

export const operator = defineOperator({
  name: 'greeter',
  kinds: [greeter],
  controllers: [
    defineController(greeter, {
      owns: [apps.deployment, core.service],
      rbac: [
        { apiGroups: ['apps'], resources: ['deployments'], verbs: ['create', 'patch'] },
        { apiGroups: [''], resources: ['services'], verbs: ['create', 'patch'] },
      ],
      async reconcile(object, { cache, client }) {
        const key = keyOf(object)
        const labels = { greeter: key.name }
        const metadata = { ...key, labels, ownerReferences: [controllerReference(object)] }
        const container = {
          name: 'greeter',
          image: 'example.com/greeter:1',
          command: ['greeter'],
          env: [
            { name: 'PORT', value: '8080' },
            { name: 'GREETING', value: object.spec.greeting },
          ],
          ports: [{ containerPort: 8080, protocol: 'TCP' }],
          readinessProbe: { tcpSocket: { port: 8080 }, periodSeconds: 1 },
        }
        const template = { metadata: { labels }, spec: { containers: [container] } }
        const deployment = { metadata, spec: { replicas: object.spec.replicas, selector: { matchLabels: labels }, template } }
        const service = { metadata, spec: { selector: labels, ports: [{ port: 80, protocol: 'TCP', targetPort: 8080 }] } }
        const live = cache.get(apps.deployment, key)
        if (!hasFields(live, deployment)) await client.apply(apps.deployment, deployment)
        if (!hasFields(cache.get(core.service, key), service)) await client.apply(core.service, service)
        const readyReplicas = live?.status?.readyReplicas ?? 0
        if (object.status?.readyReplicas !== readyReplicas) await client.patchStatus(greeter, key, { status: { readyReplicas } })
      },
    }),
  ],
})
