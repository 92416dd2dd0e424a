/** The built-in type Event. Events are stored in the core group. They are served in the core group and in `events.k8s.io`. */
import { apiVersionOf } from '../../../api/group-version-kind.ts'
import type { JsonObject } from '../../../api/json.ts'
import { asGo } from '../../types/go-value.ts'
import { kindType } from '../../types/go-types.ts'
import type { BuiltinDefinition } from '../builtin-resource.ts'
import { builtinResource } from '../builtin-resource.ts'
import { humanAge, integerColumn, nameColumn, numberAsText, textColumn } from '../columns.ts'
import { numberAt, textAt } from '../../apimachinery/unstructured.ts'
import type { ResourceInfo } from '../../rest/resource-info.ts'
import { validateEvent, validateNewEvent } from './event-validation.ts'

/**
 * Fields whose names differ between the core group and `events.k8s.io`. Each pair contains the name in the core group, and then the name in
 * `events.k8s.io`.
 */
const renamed: readonly (readonly [string, string])[] = [
  ['involvedObject', 'regarding'],
  ['message', 'note'],
  ['reportingComponent', 'reportingController'],
  ['source', 'deprecatedSource'],
  ['firstTimestamp', 'deprecatedFirstTimestamp'],
  ['lastTimestamp', 'deprecatedLastTimestamp'],
  ['count', 'deprecatedCount'],
]

/**
 * Converts an event to the API group `group`. Each pair is for a field that must be renamed. The pair contains the name of the field in
 * `event`, and the name of the field in `group`.
 */
function convert(event: JsonObject, group: string, pairs: readonly (readonly [string, string])[]): JsonObject {
  const names = new Map(pairs)
  const target = { group, version: 'v1', kind: 'Event' }
  const renamedEvent: JsonObject = { apiVersion: apiVersionOf(target) }
  for (const [field, value] of Object.entries(event)) if (field !== 'apiVersion') renamedEvent[names.get(field) ?? field] = value
  return asGo(kindType(target)!, renamedEvent)
}

const toNew = (event: JsonObject): JsonObject => convert(event, 'events.k8s.io', renamed)
const toCore = (event: JsonObject): JsonObject =>
  convert(
    event,
    '',
    renamed.map(([core, other]) => [other, core]),
  )

/**
 * The table columns for Events of the core group and of `events.k8s.io`. The functions of the columns read the fields of a core Event. An
 * Event of `events.k8s.io` is therefore converted to the core group first.
 */
const columns = [
  textColumn('Last Seen', lastSeen),
  textColumn('Type', (event) => textAt(event, 'type')),
  textColumn('Reason', (event) => textAt(event, 'reason')),
  textColumn('Object', (event) => {
    const [kind, name] = [textAt(event, 'involvedObject', 'kind').toLowerCase(), textAt(event, 'involvedObject', 'name')]
    return name === '' ? kind : `${kind}/${name}`
  }),
  textColumn('Subobject', (event) => textAt(event, 'involvedObject', 'fieldPath'), 1),
  textColumn('Source', source, 1),
  textColumn('Message', (event) => textAt(event, 'message').trim()),
  textColumn('First Seen', firstSeen, 1),
  numberAsText(integerColumn('Count', (event) => numberAt(event, 'series', 'count') || numberAt(event, 'count') || 1, 1)),
  { ...nameColumn, priority: 1 },
]

const selectableOfObject = ['kind', 'namespace', 'name', 'uid', 'apiVersion', 'resourceVersion', 'fieldPath']

const definition: BuiltinDefinition = { kind: 'Event', plural: 'events', shortNames: ['ev'], storageKey: '/events' }

const coreEvents = builtinResource({
  ...definition,
  columns,
  selectableFields: (event) => ({
    ...Object.fromEntries(selectableOfObject.map((field) => [`involvedObject.${field}`, textAt(event, 'involvedObject', field)])),
    reason: textAt(event, 'reason'),
    reportingComponent: textAt(event, 'reportingComponent'),
    source: textAt(event, 'source', 'component') || textAt(event, 'reportingComponent'),
    type: textAt(event, 'type'),
  }),
  strategy: { validate: validateEvent },
})

const newEvents = builtinResource({
  ...definition,
  group: 'events.k8s.io',
  columns: columns.map((column) => ({ ...column, cell: (event, now) => column.cell(toCore(event), now) })),
  conversion: { fromStorage: toNew, toStorage: toCore },
  selectableFields: (event) => ({
    ...Object.fromEntries(selectableOfObject.map((field) => [`regarding.${field}`, textAt(event, 'regarding', field)])),
    reason: textAt(event, 'reason'),
    reportingController: textAt(event, 'reportingController'),
    type: textAt(event, 'type'),
  }),
  strategy: {
    // Events of `events.k8s.io` are validated as core events. Errors therefore have the field names of core events. The only exception is
    // `reportingController`.
    validate: (event, old) => validateNewEvent(toCore(event), old === undefined ? undefined : toCore(old)),
  },
})

function firstSeen(event: JsonObject, now: number): string {
  return humanAge(textAt(event, 'firstTimestamp') || textAt(event, 'eventTime'), now)
}

function lastSeen(event: JsonObject, now: number): string {
  const last = textAt(event, 'series', 'lastObservedTime') || textAt(event, 'lastTimestamp')
  return last === '' ? firstSeen(event, now) : humanAge(last, now)
}

function source(event: JsonObject): string {
  const component = textAt(event, 'source', 'component') || textAt(event, 'reportingComponent')
  const instance = textAt(event, 'source', 'host') || textAt(event, 'reportingInstance')
  return instance === '' ? component : `${component}, ${instance}`
}

export const eventResources: readonly ResourceInfo[] = [coreEvents, newEvents]
