import { readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { parse, parseAllDocuments } from 'yaml'
import { defineKind } from '../../src/api/kind.ts'
import { Type } from '../../src/api/type.ts'
import type { TSchema } from '../../src/api/type.ts'
import { defineConversion } from '../../src/conversion/definition.ts'
import { defineOperator } from '../../src/manager/operator.ts'
import { crdOf } from '../../src/manifests/crd.ts'
import { mergeRules } from '../../src/manifests/rbac.ts'
import { generatedFiles } from '../../src/manifests/tree.ts'
import { manifestText } from '../../src/manifests/yaml.ts'
import { repository } from '../support/process/process.ts'

t.test('a CRD has all settings of its kind', async (t) => {
  const kind = defineKind({
    group: 'example.com',
    kind: 'Party',
    shortNames: ['pa'],
    categories: ['all'],
    scope: 'Cluster',
    versions: [
      {
        name: 'v1',
        storage: true,
        spec: Type.Object({ size: Type.Integer() }),
        scale: { specReplicasPath: '.spec.size', statusReplicasPath: '.status.size' },
      },
      {
        name: 'v1beta1',
        served: false,
        spec: Type.Object({}),
        deprecationWarning: 'use v1',
        printerColumns: [{ name: 'Size', jsonPath: '.spec.size', type: 'integer' }],
      },
    ],
  })
  t.strictSame(crdOf(kind), {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: 'parties.example.com' },
    spec: {
      group: 'example.com',
      names: { kind: 'Party', listKind: 'PartyList', plural: 'parties', singular: 'party', shortNames: ['pa'], categories: ['all'] },
      scope: 'Cluster',
      versions: [
        {
          name: 'v1',
          served: true,
          storage: true,
          schema: { openAPIV3Schema: kind.versions[0]!.schema },
          subresources: { scale: { specReplicasPath: '.spec.size', statusReplicasPath: '.status.size' } },
        },
        {
          name: 'v1beta1',
          served: false,
          storage: false,
          deprecated: true,
          deprecationWarning: 'use v1',
          schema: { openAPIV3Schema: kind.versions[1]!.schema },
          additionalPrinterColumns: [{ name: 'Size', jsonPath: '.spec.size', type: 'integer' }],
        },
      ],
    },
  })
})

t.test('a CRD has only the settings of its kind', (t) => {
  const kind = defineKind({
    group: 'example.com',
    kind: 'Party',
    versions: [{ name: 'v1', spec: Type.Object({}), status: Type.Object({}), printerColumns: [{ name: 'A', jsonPath: '.spec.a' }] }],
  })
  const { spec } = crdOf(kind)
  t.strictSame(spec, {
    group: 'example.com',
    names: { kind: 'Party', listKind: 'PartyList', plural: 'parties', singular: 'party' },
    scope: 'Namespaced',
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        schema: { openAPIV3Schema: kind.versions[0]!.schema },
        subresources: { status: {} },
        additionalPrinterColumns: [{ type: 'string', name: 'A', jsonPath: '.spec.a' }],
      },
    ],
  })
  t.end()
})

t.test('the CRD of a kind with a conversion webhook has its clientConfig, and the operator may patch its caBundle', async (t) => {
  const kind = defineKind({
    group: 'example.com',
    kind: 'Party',
    versions: [
      { name: 'v1', storage: true, spec: Type.Object({ size: Type.Integer() }) },
      { name: 'v1beta1', spec: Type.Object({ guests: Type.Integer() }) },
    ],
  })
  const operator = defineOperator({
    name: 'party',
    kinds: [kind],
    conversions: [
      defineConversion(kind, {
        converters: {
          v1beta1: {
            toHub: ({ spec }) => ({ spec: { size: spec.guests } }),
            fromHub: ({ spec }) => ({ spec: { guests: spec.size } }),
          },
        },
      }),
    ],
  })
  const files = generatedFiles([operator])
  const crd = parse(files.get('crd/bases/example.com_parties.yaml')!) as { spec: { conversion: unknown } }
  const service = { namespace: 'party-system', name: 'party-webhook', path: '/convert' }
  t.strictSame(crd.spec.conversion, { strategy: 'Webhook', webhook: { conversionReviewVersions: ['v1'], clientConfig: { service } } })
  const role = parse(files.get('rbac/role.yaml')!) as { rules: { resources: string[] }[] }
  t.strictSame(
    role.rules.filter(({ resources }) => resources.includes('customresourcedefinitions')),
    [
      {
        apiGroups: ['apiextensions.k8s.io'],
        resources: ['customresourcedefinitions'],
        resourceNames: ['parties.example.com'],
        verbs: ['get', 'patch'],
      },
    ],
  )
})

/**
 * The maximum size of a CRD in bytes. `kubectl apply` writes the whole CRD into an annotation, and the API server limits the total size of
 * the annotations of an object to 256 KiB. `maxCrdBytes` is a quarter of 256 KiB.
 */
const maxCrdBytes = 64 * 1024

t.test('CRDs are small enough for the last-applied annotation of kubectl apply, for any embedded types', async (t) => {
  const folder = join(repository, 'config/crd/bases')
  const files = readdirSync(folder)
  t.ok(files.length > 0)
  for (const file of files) t.ok(readFileSync(join(folder, file)).length < maxCrdBytes, file)
  const embedding = defineKind({
    group: 'example.com',
    kind: 'Everything',
    versions: [
      {
        name: 'v1',
        spec: Type.Object({
          pod: Type.Builtin('PodSpec'),
          jobs: Type.Array(Type.Builtin('JobTemplateSpec')),
          set: Type.Builtin('StatefulSetSpec'),
          scaling: Type.Builtin('HorizontalPodAutoscalerSpec'),
        }),
      },
    ],
  })
  t.ok(manifestText(crdOf(embedding)).length < 2048)
})

t.test('manifests are YAML with a header', async (t) => {
  const text = manifestText({ a: 1 }, { b: [true] })
  t.match(text, /^# Generated by "proreus generate"/)
  t.strictSame(
    parseAllDocuments(text).map((document) => document.toJS() as unknown),
    [{ a: 1 }, { b: [true] }],
  )
})

t.test('rules for the same resources are merged, and sorted', async (t) => {
  t.strictSame(
    mergeRules([
      { apiGroups: [''], resources: ['pods', 'events'], verbs: ['get'] },
      { apiGroups: [''], resources: ['pods'], verbs: ['create', 'get'] },
      { apiGroups: [''], resources: ['pods'], verbs: ['delete'], resourceNames: ['b', 'a'] },
    ]),
    [
      { apiGroups: [''], resources: ['events'], verbs: ['get'] },
      { apiGroups: [''], resources: ['pods'], verbs: ['create', 'get'] },
      { apiGroups: [''], resources: ['pods'], resourceNames: ['a', 'b'], verbs: ['delete'] },
    ],
  )
})

t.test('a schema that the API server would refuse gets no manifest', async (t) => {
  const kindWith = (a: TSchema) => defineKind({ group: 'example.com', kind: 'Party', versions: [{ name: 'v1', spec: Type.Object({ a }) }] })
  const cases: [TSchema, RegExp][] = [
    [Type.String({ pattern: '(?=a)' }), /properties\[spec\]\.properties\[a\]\.pattern: Invalid value/],
    [Type.String({ rules: [{ rule: 'self.' }] }), /properties\[a\]\.x-kubernetes-validations\[0\]\.rule: Invalid value/],
    [Type.Integer({ maximum: 2, default: 3 }), /properties\[a\]\.default: Invalid value: 3/],
  ]
  for (const [schema, message] of cases) {
    const operator = defineOperator({ name: 'party', kinds: [kindWith(schema)] })
    t.throws(() => generatedFiles([operator]), { code: 'PRO_SCHEMA_INVALID', message })
    t.throws(() => generatedFiles([operator]), {
      message: /^The schema of version v1 of Party\.example\.com is invalid for a CustomResourceDefinition/,
    })
  }
})
