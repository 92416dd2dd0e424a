import t from 'tap'
import { formatFieldError } from '../../../src/api/field-error.ts'
import type { JsonObject } from '../../../src/api/json.ts'
import { customResourceDefinitions } from '../../../src/devcluster/crd/custom-resource-definitions.ts'
import { asDefinition } from '../../../src/devcluster/crd/definition.ts'
import { systemContext } from '../../../src/devcluster/crd/system-context.ts'
import { validateDefinition } from '../../../src/devcluster/crd/validate-definition.ts'
import { FakeClock } from '../../../src/testing/fake-clock.ts'
import { widgetDefinition, widgetVersion } from '../../support/devcluster-definitions.ts'

const { strategy } = customResourceDefinitions(new FakeClock())
const defaulted = (object: JsonObject): JsonObject => strategy.default!(object)

function errorsOf(spec: JsonObject, metadata: JsonObject = {}): string[] {
  const definition = strategy.prepareForCreate!(defaulted(widgetDefinition(spec, metadata)), systemContext(new AbortController().signal))
  return validateDefinition(asDefinition(definition)).map(formatFieldError)
}
const versions = (...changes: JsonObject[]): JsonObject => ({ versions: changes.map((change) => ({ ...widgetVersion, ...change })) })
const names = (change: JsonObject): JsonObject => ({ names: { plural: 'widgets', kind: 'Widget', ...change } })

t.test('a sound definition has no errors, and gets its defaults', async (t) => {
  t.strictSame(errorsOf({}), [])
  const { spec } = asDefinition(defaulted(widgetDefinition()))
  t.match(spec, { names: { singular: 'widget', listKind: 'WidgetList' }, conversion: { strategy: 'None' } })
})

t.test('defaults leave alone what is complete', async (t) => {
  const complete = defaulted(widgetDefinition())
  t.equal(defaulted(complete), complete)
})

const table: [string, JsonObject, JsonObject, ...RegExp[]][] = [
  [
    'another name',
    {},
    { name: 'other.example.com' },
    /^metadata.name: Invalid value: "other.example.com": must be spec.names.plural\+"."\+spec.group$/,
  ],
  [
    'a group without a dot',
    { group: 'example' },
    { name: 'widgets.example' },
    /^spec.group: Invalid value: "example": should be a domain with at least one dot$/,
  ],
  ['no scope', { scope: '' }, {}, /^spec.scope: Required value$/],
  ['another scope', { scope: 'Other' }, {}, /^spec.scope: Unsupported value: "Other": supported values: "Cluster", "Namespaced"$/],
  ['no kind', names({ kind: '', singular: 'w', listKind: 'L' }), {}, /^spec.names.kind: Required value$/],
  [
    'a bad kind',
    names({ kind: 'My_Kind', singular: 'w', listKind: 'L' }),
    {},
    /^spec.names.kind: Invalid value: "My_Kind": may have mixed case, but should otherwise match: a DNS-1035 label/,
  ],
  [
    'kind and list kind alike',
    names({ listKind: 'Widget' }),
    {},
    /^spec.names.listKind: Invalid value: "Widget": kind and listKind may not be the same$/,
  ],
  [
    'no storage version',
    versions({ storage: false }),
    {},
    /^spec.versions: Invalid value: .*: must have exactly one version marked as storage version$/,
    /^status.storedVersions: Invalid value: null: must have at least one stored version$/,
  ],
  [
    'two storage versions',
    versions({}, { name: 'v2' }),
    {},
    /must have exactly one version marked as storage version$/,
    /^status.storedVersions: Invalid value: \["v1"\]: must have the storage version v2$/,
  ],
  ['a version twice', versions({}, { storage: false }), {}, /must contain unique version names$/],
  ['no schema', versions({ schema: {}, selectableFields: [] }), {}, /^spec.versions\[0\].schema.openAPIV3Schema: Required value$/],
  [
    'a schema that is not structural',
    versions({ schema: { openAPIV3Schema: { type: 'object', properties: { spec: {} } } }, selectableFields: [] }),
    {},
    /^spec.validation.openAPIV3Schema.properties\[spec\].type: Required value: must not be empty for specified object fields$/,
  ],
  [
    'a scale path without a dot',
    versions({ subresources: { scale: { specReplicasPath: 'spec.a', statusReplicasPath: '.status.r' } } }),
    {},
    /^spec.subresources.scale.specReplicasPath: Invalid value: "spec.a": must be a simple json path starting with \.$/,
  ],
  [
    'a scale path elsewhere',
    versions({ subresources: { scale: { specReplicasPath: '.status.r', statusReplicasPath: '.status.r' } } }),
    {},
    /specReplicasPath: Invalid value: ".status.r": should be a json path under .spec$/,
  ],
  [
    'a column without a type',
    versions({ additionalPrinterColumns: [{ name: 'A', jsonPath: '.a' }] }),
    {},
    /^spec.additionalPrinterColumns\[0\].type: Required value: must be one of boolean,date,integer,number,string$/,
  ],
  [
    'a column with a bad path',
    versions({ additionalPrinterColumns: [{ name: 'A', type: 'string', jsonPath: 'a' }] }),
    {},
    /JSONPath: Invalid value: "a": must be a simple json path starting with \.$/,
  ],
  [
    'a webhook conversion without a webhook',
    { conversion: { strategy: 'Webhook', webhook: { conversionReviewVersions: ['v1'] } } },
    {},
    /^spec.conversion.webhookClientConfig: Required value: required when strategy is set to Webhook$/,
  ],
  [
    'unknown fields kept everywhere',
    { preserveUnknownFields: true },
    {},
    /^spec.preserveUnknownFields: Invalid value: true: cannot set to true/,
  ],
  [
    'a protected group',
    { group: 'x.k8s.io' },
    { name: 'widgets.x.k8s.io' },
    /^metadata.annotations\[api-approved.kubernetes.io\]: Required value: protected groups must have approval annotation/,
  ],
]
for (const [name, spec, metadata, ...expected] of table) {
  t.test(`${name} is refused`, async (t) => {
    const errors = errorsOf(spec, metadata)
    t.equal(errors.length, expected.length)
    t.match(errors, expected)
  })
}

t.test('what custom resources are stored under may not change', async (t) => {
  const established = (spec: JsonObject): ReturnType<typeof asDefinition> =>
    asDefinition({
      ...defaulted(widgetDefinition(spec)),
      status: { storedVersions: ['v1'], conditions: [{ type: 'Established', status: 'True' }] } as unknown as JsonObject,
    })
  const errors = validateDefinition(established({ scope: 'Cluster', ...names({ kind: 'Other' }) }), established({})).map(formatFieldError)
  t.strictSame(errors, [
    'spec.scope: Invalid value: "Cluster": field is immutable',
    'spec.names.kind: Invalid value: "Other": field is immutable',
  ])
  const renamed = validateDefinition(established(versions({ name: 'v2' })), established({})).map(formatFieldError)
  t.equal(renamed.length, 2)
  t.match(renamed, [
    /^status.storedVersions\[0\]: Invalid value: "v1": missing from spec.versions; v1 was previously a storage version/,
    /^status.storedVersions: Invalid value: \["v1"\]: must have the storage version v2$/,
  ])
})
