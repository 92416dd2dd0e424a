import t from 'tap'
import type { Infer, InferInput } from '../../src/api/kind.ts'
import { defineKind } from '../../src/api/kind.ts'
import { builtinTypeOf } from '../../src/api/builtin-types.ts'
import { Type } from '../../src/api/type.ts'

const kind = defineKind({
  group: 'example.com',
  kind: 'Holder',
  versions: [
    {
      name: 'v1',
      spec: Type.Object({
        template: Type.Builtin('PodTemplateSpec', { description: 'Of the Pods.' }),
        env: Type.Optional(Type.Array(Type.Builtin('EnvVar'))),
        ingress: Type.Optional(Type.Builtin('NetworkPolicyIngressRule')),
        resources: Type.Builtin('ResourceRequirements', { default: { limits: { cpu: '1' } } }),
      }),
    },
  ],
})

t.test('a built-in type has the static type of its values', async (t) => {
  const input: InferInput<typeof kind>['spec'] = {
    template: { spec: { containers: [{ name: 'a', ports: [{ containerPort: 80 }] }] } },
    ingress: { from: [{ ipBlock: { cidr: '10.0.0.0/8' } }] },
  }
  // @ts-expect-error containerPort is a number
  const wrong: InferInput<typeof kind>['spec'] = { template: { spec: { containers: [{ name: 'a', ports: [{ containerPort: '80' }] }] } } }
  // @ts-expect-error kinds cannot embed this type
  Type.Builtin('JSONSchemaProps')
  const read = {} as Infer<typeof kind>['spec']
  const limits: Record<string, string> | undefined = read.resources?.limits
  const name: string | undefined = read.env?.[0]?.name
  t.ok([input, wrong, limits, name])
})

t.test('the CRD declares a built-in type as an object without fields', async (t) => {
  const { spec } = kind.versions[0]!.schema.properties!
  t.strictSame(JSON.parse(JSON.stringify(spec)), {
    type: 'object',
    required: ['template'],
    properties: {
      template: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true, description: 'Of the Pods.' },
      env: { type: 'array', items: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
      ingress: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
      resources: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true, default: { limits: { cpu: '1' } } },
    },
  })
  const { template, env, ingress } = spec!.properties!
  t.strictSame([template!, env!.items!, ingress!, env!].map(builtinTypeOf), [
    'PodTemplateSpec',
    'EnvVar',
    'NetworkPolicyIngressRule',
    undefined,
  ])
})
