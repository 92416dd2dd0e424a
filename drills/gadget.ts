/** The kind of the soak drill. Each Gadget gets a ConfigMap with its value, and a status that says so. */
import { defineKind, Type } from '../src/index.ts'

export const gadget = defineKind({
  group: 'soak.proreus.dev',
  kind: 'Gadget',
  versions: [
    {
      name: 'v1',
      spec: Type.Object({ value: Type.Integer() }),
      status: Type.Object({ seen: Type.Integer() }),
    },
  ],
})
