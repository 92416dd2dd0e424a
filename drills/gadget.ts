/** The kind of the objects in the drills. The operator of a drill copies the `spec.value` of an object to its `status.seen`. */
import { defineKind, Type } from '../src/index.ts'

export const gadget = defineKind({
  group: 'drills.proreus.dev',
  kind: 'Gadget',
  versions: [
    {
      name: 'v1',
      spec: Type.Object({ value: Type.Integer() }),
      status: Type.Object({ seen: Type.Integer() }),
    },
  ],
})
