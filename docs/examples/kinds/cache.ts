import { Conditions, defineKind, defineOperator, Type } from 'proreus'

export const cache = defineKind({
  group: 'example.com',
  kind: 'Cache',
  versions: [
    {
      name: 'v1',
      spec: Type.Object(
        {
          engine: Type.Enum(['redis', 'memcached'], {
            rules: [
              {
                rule: 'self == oldSelf',
                messageExpression: "'must stay ' + oldSelf",
                message: 'cannot change',
                reason: 'FieldValueForbidden',
              },
            ],
          }),
          replicas: Type.Integer({ minimum: 0, maximum: 9, default: 1 }),
          maxReplicas: Type.Optional(Type.Integer({ maximum: 9 })),
          owner: Type.Nullable(Type.String({ maxLength: 63 })),
          zones: Type.Array(Type.String({ maxLength: 63 }), { listType: 'set', maxItems: 10, default: [] }),
          ports: Type.Optional(
            Type.Array(Type.Object({ name: Type.String({ maxLength: 15 }), port: Type.Integer({ minimum: 1, maximum: 65_535 }) }), {
              listType: 'map',
              listMapKeys: ['name'],
              maxItems: 10,
            }),
          ),
          settings: Type.Record(Type.String(), { default: {} }),
        },
        {
          rules: [
            {
              rule: '!has(self.maxReplicas) || self.replicas <= self.maxReplicas',
              message: 'must not exceed maxReplicas',
              fieldPath: '.replicas',
            },
          ],
        },
      ),
      status: Type.Object({ replicas: Type.Integer(), selector: Type.String(), conditions: Conditions }),
      printerColumns: [
        { name: 'Engine', jsonPath: '.spec.engine' },
        { name: 'Replicas', jsonPath: '.status.replicas', type: 'integer' },
        { name: 'Zones', jsonPath: '.spec.zones', priority: 1 },
      ],
      scale: { specReplicasPath: '.spec.replicas', statusReplicasPath: '.status.replicas', labelSelectorPath: '.status.selector' },
    },
  ],
})

export const operator = defineOperator({ name: 'cache', kinds: [cache] })
