/**
 * The built-in kind Event of the group `events.k8s.io`: its `ResourceType` is `events.event`, and the TypeScript type of its objects is
 * `events.Event`. The objects are the same as those of `core.event`, with newer field names.
 */
import type { models } from './models.ts'
import type { NamespacedObject } from './resource.ts'
import { namespacedType } from './resource.ts'

export declare namespace events {
  type Event = NamespacedObject<models.EventsV1Event, 'events.k8s.io/v1', 'Event'>
}

export const events = {
  event: namespacedType<events.Event>('events.k8s.io', 'v1', 'Event', 'events'),
} as const
