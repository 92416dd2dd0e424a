import type { Verdict } from './schema-judges.ts'
export const expectedVerdicts: Readonly<Record<string, Partial<Verdict>>> = {}
