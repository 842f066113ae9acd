import { Injectable } from '@nestjs/common';
import type { PersonalData } from './personal-data.models.js';

const STAGES = ['derived', 'turns', 'agents'] as const;

/** The personal data of all rooms. Registered in `onModuleInit`. */
@Injectable()
export class PersonalDataParts {
  private readonly parts: PersonalData[] = [];

  /** Throws if a table or a type of line is another part's. */
  register(part: PersonalData): void {
    const taken = this.parts.find(
      (other) =>
        other.tables.some((table) => part.tables.includes(table)) ||
        other.lineTypes.some((type) => part.lineTypes.includes(type)),
    );
    if (taken) throw new Error(`two rooms register the personal data of ${part.tables.join(', ')}`);
    this.parts.push(part);
  }

  inErasureOrder(): PersonalData[] {
    return STAGES.flatMap((stage) => this.byName().filter((part) => part.stage === stage));
  }

  /** Turns first, since the rest refers to them. */
  inExportOrder(): PersonalData[] {
    return this.inErasureOrder().reverse();
  }

  ofLine(type: string): PersonalData | undefined {
    return this.parts.find(({ lineTypes }) => lineTypes.includes(type));
  }

  /** An order that does not depend on which room started first. */
  private byName(): PersonalData[] {
    return [...this.parts].sort((a, b) => (a.tables[0]! < b.tables[0]! ? 1 : -1));
  }
}
