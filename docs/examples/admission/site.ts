import { accessReviewRule, core, defineKind, defineOperator, defineWebhook, failure, forbidden, invalid, Type } from 'proreus'

export const site = defineKind({
  group: 'example.com',
  kind: 'Site',
  versions: [
    {
      name: 'v1',
      spec: Type.Object({
        host: Type.String({ default: '' }),
        replicas: Type.Integer({ minimum: 0, default: 1 }),
        certificate: Type.Optional(Type.String({ description: 'Name of a Secret.' })),
      }),
      status: Type.Object({ replicas: Type.Integer() }),
      scale: { specReplicasPath: '.spec.replicas', statusReplicasPath: '.status.replicas' },
    },
  ],
})

export const operator = defineOperator({
  name: 'site',
  kinds: [site],
  webhooks: [
    defineWebhook(site, {
      // If an object has `generateName`, the API server sets the name after this function has run. In this case, `name` is empty here.
      default: (object, { name }) =>
        object.spec.host === '' && name !== '' ? { ...object, spec: { ...object.spec, host: `${name}.example.com` } } : object,
      validate: ({ spec }, old) => [
        ...(spec.host.includes('_') ? [invalid('spec.host', spec.host, 'must be a host name')] : []),
        ...(old !== undefined && old.spec.host !== spec.host ? [forbidden('spec.host', 'cannot be changed')] : []),
      ],
      async validateInCluster({ spec }, _old, { requesterCan, user, audit }) {
        if (spec.certificate === undefined) return []
        audit('certificate', spec.certificate)
        const allowed = await requesterCan({ verb: 'get', type: core.secret, name: spec.certificate })
        return allowed ? [] : [forbidden('spec.certificate', `user "${user.username}" cannot get this Secret`)]
      },
      validateDelete: ({ spec }) => (spec.replicas > 0 ? failure(409, 'Conflict', 'scale it to 0 first') : []),
      rbac: [accessReviewRule],
    }),
  ],
})
