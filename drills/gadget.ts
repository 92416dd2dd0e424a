/** The kind of the drills. The status of a Gadget says which value its operator has seen. */
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
