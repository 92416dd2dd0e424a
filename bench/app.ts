/**
 * The kind `App`, which the benchmarks of webhooks, controllers and API servers use. The schema of App has defaults at several depths,
 * patterns, enums, bounds and a list with `listType: map`.
 */
import { Conditions, defineKind, Type } from 'proreus'

const variable = Type.Object({
  name: Type.String({ pattern: '^[A-Za-z_][A-Za-z0-9_]*$' }),
  value: Type.String({ maxLength: 4096, default: '' }),
})

const port = Type.Object({
  port: Type.Integer({ minimum: 1, maximum: 65535 }),
  protocol: Type.Enum(['TCP', 'UDP', 'SCTP'], { default: 'TCP' }),
})

const container = Type.Object({
  name: Type.String({ maxLength: 63, pattern: '^[a-z0-9]([-a-z0-9]*[a-z0-9])?$' }),
  image: Type.String({ minLength: 1 }),
  pullPolicy: Type.Enum(['Always', 'Never', 'IfNotPresent'], { default: 'IfNotPresent' }),
  env: Type.Optional(Type.Array(variable, { listType: 'map', listMapKeys: ['name'] })),
  ports: Type.Optional(Type.Array(port)),
})

export const app = defineKind({
  group: 'bench.proreus.dev',
  kind: 'App',
  versions: [
    {
      name: 'v1',
      spec: Type.Object({
        image: Type.String({ minLength: 1, maxLength: 256, pattern: '^[a-z0-9./:@_-]+$' }),
        replicas: Type.Integer({ format: 'int32', minimum: 0, maximum: 1000, default: 1 }),
        paused: Type.Boolean({ default: false }),
        strategy: Type.Object(
          {
            type: Type.Enum(['Recreate', 'RollingUpdate'], { default: 'RollingUpdate' }),
            maxSurge: Type.IntOrString({ default: '25%' }),
          },
          { default: {} },
        ),
        labels: Type.Optional(Type.Record(Type.String({ maxLength: 63 }))),
        containers: Type.Optional(Type.Array(container, { maxItems: 10_000 })),
      }),
      status: Type.Object({
        readyReplicas: Type.Optional(Type.Integer()),
        observedGeneration: Type.Optional(Type.Integer()),
        conditions: Type.Optional(Conditions),
      }),
    },
  ],
})
