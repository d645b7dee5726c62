export { examine } from './doctor.ts'
export type { DoctorOptions } from './doctor.ts'
