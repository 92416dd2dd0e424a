/** Kubernetes' own types of `events.k8s.io`: `events.event`, `events.Event`; the same objects as `core.event`, with newer field names. */
import type { models } from './models.ts'
import type { NamespacedObject } from './resource.ts'
import { namespacedType } from './resource.ts'

export declare namespace events {
  type Event = NamespacedObject<models.EventsV1Event, 'events.k8s.io/v1', 'Event'>
}

export const events = {
  event: namespacedType<events.Event>('events.k8s.io', 'v1', 'Event', 'events'),
} as const
